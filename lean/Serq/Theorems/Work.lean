module

public import Serq.Model.Work
public import Serq.Theorems.Accounting
public import Serq.Theorems.Attributes
public import Serq.Theorems.Outline

/-!
# Work within an instant

Whatever the sessions of a straight program do within an instant, the work that residents have left and that
no session has begun yet stays the same.
-/

public section

namespace Serq

variable {x : Setting} {preset : Nat → Bool} {C : Nat} {B : List Grant} {st : State}

/-! ## Expressions and programs -/

theorem eval_congr {V : Type} {p : V → Bool} {r r' : V → Nat} (hr : ∀ v, p v = true → r v = r' v) :
    ∀ e : Expr V, e.all p = true → e.eval r = e.eval r' := by
  intro e
  induction e with
  | lit n => exact fun _ => rfl
  | var v => exact fun h => hr v h
  | bin op a b iha ihb =>
    intro h
    simp only [Expr.all, Bool.and_eq_true] at h
    simp only [Expr.eval, iha h.1, ihb h.2]
  | not a ih => intro h; simp only [Expr.all] at h; simp only [Expr.eval, ih h]
  | cond t y n iht ihy ihn =>
    intro h
    simp only [Expr.all, Bool.and_eq_true] at h
    simp only [Expr.eval, iht h.1.1, ihy h.1.2, ihn h.2]

theorem at_eq_ofAttrs {e : Expr Var} (h : e.readsPreset preset = true) (env : Env) :
    e.at env = e.ofAttrs env.attrs :=
  eval_congr (fun v hv => by cases v <;> first | rfl | cases hv) e h

theorem ofAttrs_assign {e : Expr Var} (h : e.readsPreset preset = true) {slot : Nat}
    (hs : preset slot = false) (v : Nat) (attrs : List Nat) :
    e.ofAttrs (assign v slot attrs) = e.ofAttrs attrs :=
  eval_congr (fun w hw => by
    cases w with
    | attr k =>
      have hk : k ≠ slot := fun he => by
        subst he; simp only at hw; rw [hs] at hw; cases hw
      show nth 0 k _ = nth 0 k _
      rw [assign_is_function_update, if_neg hk]
    | _ => rfl) e h

theorem ahead_assign {slot : Nat} (hs : preset slot = false) (v : Nat) (attrs : List Nat) :
    ∀ c : Code, c.isStraight preset = true → c.ahead (assign v slot attrs) = c.ahead attrs := by
  intro c
  induction c with
  | set k e next ih => intro h; simp only [Code.isStraight, Bool.and_eq_true] at h; exact ih h.2
  | observe k e next ih => exact fun h => ih h
  | turn next ih => exact fun h => ih h
  | run place e next ih =>
    intro h
    cases place with
    | delay => exact ih h
    | prefill g =>
      simp only [Code.isStraight, Bool.and_eq_true] at h
      simp only [Code.ahead, ih h.2, ofAttrs_assign h.1.2 hs]
    | decode g =>
      simp only [Code.isStraight, Bool.and_eq_true] at h
      simp only [Code.ahead, ih h.2, ofAttrs_assign h.1.2 hs]
  | _ => exact fun _ => rfl

/-! ## The invariant of states -/

namespace State.Conserves

theorem session (h : st.Conserves preset C B) (i : Nat) :
    (st.session i).code.isStraight preset = true ∧ (st.session i).frames = [] := by
  by_cases hi : i < st.sessions.length
  · exact h.straight _ (nth_mem _ _ _ hi)
  · rw [session_beyond (Nat.le_of_not_lt hi)]; exact ⟨rfl, rfl⟩

/-- A session that is no resident is replaced by one with the same work ahead. -/
theorem setSession (h : st.Conserves preset C B) (i : Nat) (hr : ∀ j ∈ st.jobs, j.owner ≠ i)
    {s : Session} (hc : s.code.isStraight preset = true) (hf : s.frames = [])
    (ha : s.code.ahead s.attrs = (st.session i).code.ahead (st.session i).attrs) :
    (st.setSession i s).Conserves preset C B where
  straight t ht := by
    rcases mem_put ht with rfl | ht
    · exact ⟨hc, hf⟩
    · exact h.straight t ht
  queues := h.queues
  whole := by
    have hw := h.whole
    show st.remaining + sumOf _ (put s i st.sessions) = C
    by_cases hi : i < st.sessions.length
    · have hp := sumOf_put (fun s : Session => s.code.ahead s.attrs) {} s i st.sessions hi
      have hn : (nth {} i st.sessions : Session) = st.session i := rfl
      rw [hn] at hp; simp only at hp; rw [← ha] at hp
      have : sumOf (fun s : Session => s.code.ahead s.attrs) (put s i st.sessions) = st.ahead := by
        show _ = sumOf _ st.sessions
        omega
      rw [this]; exact hw
    · rw [put_beyond _ _ _ (Nat.le_of_not_lt hi)]; exact hw
  engine j hj := by
    have he := h.engine j hj
    rw [session_setSession, if_neg fun hh => hr j hj hh.1]
    exact he
  once := h.once
  still := h.still
  covers := h.covers
  calm := h.calm

theorem no_resident (h : st.Conserves preset C B) {i : Nat} (hr : (st.session i).status ≠ .engine) :
    ∀ j ∈ st.jobs, j.owner ≠ i := fun j hj he => hr (he ▸ h.engine j hj)

/-- A session that is no resident becomes ready. -/
theorem wake (h : st.Conserves preset C B) (i : Nat) (hr : ∀ j ∈ st.jobs, j.owner ≠ i) :
    (st.wake i).Conserves preset C B := by
  have hk := h.setSession i hr (s := { st.session i with status := .ready }) (h.session i).1 (h.session i).2 rfl
  exact ⟨hk.straight, hk.queues, hk.whole, hk.engine, hk.once, hk.still, hk.covers, hk.calm⟩

theorem fail (h : st.Conserves preset C B) : st.fail.Conserves preset C B :=
  ⟨h.straight, h.queues, h.whole, h.engine, h.once, h.still, h.covers, h.calm⟩

theorem nobody_waits (h : st.Conserves preset C B) (p : Nat) : (st.pool p).queue = [] := by
  by_cases hp : p < st.pools.length
  · exact h.queues _ (nth_mem _ _ _ hp)
  · rw [pool_beyond (Nat.le_of_not_lt hp)]

theorem nobody_is_admitted (h : st.Conserves preset C B) (p : Nat) (left : Option Nat) :
    tryHead x p left st = none := by
  unfold tryHead selected
  rw [h.nobody_waits p]

end State.Conserves

/-! ## Statements -/

/-- A session begins work on the engine. -/
theorem begins_work (h : st.Conserves preset C B) {i : Nat} (hr : (st.session i).status = .ready)
    (hi : i < st.sessions.length) {s : Session} {j : Job} (hc : s.code.isStraight preset = true)
    (hf : s.frames = []) (hs : s.status = .engine) (hj : j.owner = i) (hg : j.grows = false)
    (ha : j.work + s.code.ahead s.attrs = (st.session i).code.ahead (st.session i).attrs) (a : Option Nat) :
    ({ st.setSession i s with jobs := insertJob st a j st.jobs } : State).Conserves preset C B := by
  obtain ⟨b, c, e₁, e₂⟩ := insertJob_inserts st a j st.jobs
  have hnew : ∀ k ∈ st.jobs, k.owner ≠ i := fun k hk he => by
    have := h.engine k hk
    rw [he, hr] at this; cases this
  have hmem : ∀ k, k ∈ insertJob st a j st.jobs ↔ k = j ∨ k ∈ st.jobs := by
    intro k; rw [e₂, e₁]; simp; constructor <;> (rintro (h | h | h) <;> simp [h])
  refine ⟨fun t ht => ?_, h.queues, ?_, fun k hk => ?_, ?_, fun k hk => ?_, fun g hg' => ?_, h.calm⟩
  · rcases mem_put ht with rfl | ht
    · exact ⟨hc, hf⟩
    · exact h.straight t ht
  · have hw := h.whole
    have hp := sumOf_put (fun s : Session => s.code.ahead s.attrs) {} s i st.sessions hi
    have hn : (nth {} i st.sessions : Session) = st.session i := rfl
    rw [hn] at hp; simp only at hp; rw [← ha] at hp
    show sumOf Job.work (insertJob st a j st.jobs) + sumOf _ (put s i st.sessions) = C
    have h₁ : sumOf Job.work (insertJob st a j st.jobs) = sumOf Job.work st.jobs + j.work := by
      rw [e₂, e₁]
      simp only [sumOf_append, sumOf]; omega
    have h₂ : sumOf Job.work st.jobs + sumOf (fun s : Session => s.code.ahead s.attrs) st.sessions = C := hw
    rw [h₁]
    omega
  · show ((st.setSession i s).session k.owner).status = .engine
    rw [session_setSession]
    rcases (hmem k).mp hk with rfl | hk
    · rw [if_pos ⟨hj, hi⟩]; exact hs
    · rw [if_neg fun hh => hnew k hk hh.1]; exact h.engine k hk
  · show (List.map Job.owner (insertJob st a j st.jobs)).Nodup
    have ho := h.once
    rw [e₁] at ho
    rw [e₂]
    rw [List.map_append, List.map_cons]
    rw [List.map_append] at ho
    refine (List.perm_middle.nodup_iff).mpr (List.nodup_cons.mpr ⟨?_, ho⟩)
    rw [← List.map_append, ← e₁, hj]
    intro hm
    obtain ⟨k, hk, he⟩ := List.mem_map.mp hm
    exact hnew k hk he
  · rcases (hmem k).mp hk with rfl | hk
    · exact hg
    · exact h.still k hk
  · obtain ⟨k, hk, hh⟩ := h.covers g hg'
    exact ⟨k, (hmem k).mpr (.inr hk), hh⟩

/-- A statement of a ready session conserves work, and a session that goes on is ready. -/
theorem command_conserves (ht : x.w.turnSlot = none) (hn : ∀ c ∈ x.w.clients, c.turns = [])
    (h : st.Conserves preset C B) {i : Nat} (hr : (st.session i).status = .ready) :
    (command x i st).1.Conserves preset C B ∧
      ((command x i st).2 = true → ((command x i st).1.session i).status = .ready) := by
  have hi : i < st.sessions.length := by
    refine Nat.lt_of_not_le fun hl => ?_
    rw [session_beyond hl] at hr; cases hr
  have hne : ∀ j ∈ st.jobs, j.owner ≠ i := h.no_resident (by rw [hr]; nofun)
  obtain ⟨hc, hf⟩ := h.session i
  have hown (s : Session) : ((st.setSession i s).session i) = s := by
    rw [session_setSession, if_pos ⟨rfl, hi⟩]
  have hset {s : Session} := h.setSession i hne (s := s)
  have hend (he : (st.session i).code.ahead (st.session i).attrs = 0) :
      (endSession x i st).Conserves preset C B := by
    unfold endSession
    rw [hf]
    exact hset rfl rfl he.symm
  unfold command
  simp only
  split
  · rename_i he
    exact ⟨hend (by rw [he]; rfl), nofun⟩
  · rename_i slot value next he
    rw [he] at hc
    simp only [Code.isStraight, Bool.and_eq_true, Bool.not_eq_true'] at hc
    refine ⟨hset hc.2 hf ?_, fun _ => by rw [hown]; exact hr⟩
    show next.ahead (assign _ slot _) = _
    rw [ahead_assign hc.1 _ _ next hc.2, he]
    rfl
  · rename_i name value next he
    rw [he] at hc
    have hk := hset (s := { st.session i with code := next }) hc hf (by rw [he]; rfl)
    refine ⟨⟨hk.straight, hk.queues, hk.whole, hk.engine, hk.once, hk.still, hk.covers, hk.calm⟩, fun _ => ?_⟩
    have := hown { st.session i with code := next }
    exact (congrArg Session.status this).trans hr
  · rename_i next he
    rw [he] at hc
    have hk := hset (s := { st.session i with code := next }) hc hf (by rw [he]; rfl)
    have hturns : (nth ({} : Client) i x.w.clients).turns = [] := by
      by_cases hl : i < x.w.clients.length
      · exact hn _ (nth_mem _ _ _ hl)
      · rw [nth_beyond _ _ _ (Nat.le_of_not_lt hl)]
    unfold takeTurn countTurn
    simp only [ht, hturns]
    exact ⟨hk, fun _ => by rw [hown]; exact hr⟩
  · rename_i he; rw [he] at hc; cases hc
  · rename_i he; rw [he] at hc; cases hc
  · rename_i he; rw [he] at hc; cases hc
  · rename_i place e next he
    rw [he] at hc
    refine ⟨?_, nofun⟩
    generalize hw : e.at (x.env st i) = work
    unfold startRun
    simp only
    cases place with
    | delay =>
      have hn' : next.isStraight preset = true := hc
      split
      · have hk := hset (s := { st.session i with code := next }) hn' hf (by rw [he]; rfl)
        exact ⟨hk.straight, hk.queues, hk.whole, hk.engine, hk.once, hk.still, hk.covers, hk.calm⟩
      · have hk := hset (s := { st.session i with code := next, status := .delay (x.now + work) st.events })
          hn' hf (by rw [he]; rfl)
        exact ⟨hk.straight, hk.queues, hk.whole, hk.engine, hk.once, hk.still, hk.covers, hk.calm⟩
    | prefill g =>
      simp only [Code.isStraight, Bool.and_eq_true, Bool.not_eq_true'] at hc
      have ha : work + next.ahead (st.session i).attrs = (st.session i).code.ahead (st.session i).attrs := by
        rw [he, ← hw, at_eq_ofAttrs hc.1.2]; rfl
      split
      · rename_i h0
        have hk := hset (s := { st.session i with code := next }) hc.2 hf (by rw [← ha, h0]; simp)
        exact ⟨hk.straight, hk.queues, hk.whole, hk.engine, hk.once, hk.still, hk.covers, hk.calm⟩
      · exact begins_work (s := { st.session i with code := next, status := .engine })
          (j := { owner := i, decode := false, work, grows := g }) h hr hi hc.2 hf rfl rfl hc.1.1 ha _
    | decode g =>
      simp only [Code.isStraight, Bool.and_eq_true, Bool.not_eq_true'] at hc
      have ha : work + next.ahead (st.session i).attrs = (st.session i).code.ahead (st.session i).attrs := by
        rw [he, ← hw, at_eq_ofAttrs hc.1.2]; rfl
      split
      · rename_i h0
        have hk := hset (s := { st.session i with code := next }) hc.2 hf (by rw [← ha, h0]; simp)
        exact ⟨hk.straight, hk.queues, hk.whole, hk.engine, hk.once, hk.still, hk.covers, hk.calm⟩
      · exact begins_work (s := { st.session i with code := next, status := .engine })
          (j := { owner := i, decode := true, work, grows := g }) h hr hi hc.2 hf rfl rfl hc.1.1 ha _
  · rename_i he; rw [he] at hc; cases hc
  · rename_i he
    have h0 : (st.session i).code.ahead (st.session i).attrs = 0 := by rw [he]; rfl
    split
    · exact ⟨hend h0, nofun⟩
    all_goals (rename_i hfr; rw [hf] at hfr; cases hfr)

/-! ## Instants -/

theorem exec_conserves (ht : x.w.turnSlot = none) (hn : ∀ c ∈ x.w.clients, c.turns = []) (i : Nat) :
    ∀ (n : Nat) (st : State), st.Conserves preset C B → (st.session i).status = .ready →
      (exec x i n st).Conserves preset C B := by
  intro n
  induction n with
  | zero => exact fun st h _ => h.fail
  | succ n ih =>
    intro st h hr
    obtain ⟨h₁, h₂⟩ := command_conserves ht hn h hr
    unfold exec
    split
    · rename_i st' he
      rw [he] at h₁ h₂
      exact ih _ h₁ (h₂ rfl)
    · rename_i st' he
      rw [he] at h₁
      exact h₁

theorem drain_conserves (ht : x.w.turnSlot = none) (hn : ∀ c ∈ x.w.clients, c.turns = []) :
    ∀ (n : Nat) (st : State), st.Conserves preset C B → (drain x n st).Conserves preset C B := by
  intro n
  induction n with
  | zero => exact fun st h => h.fail
  | succ n ih =>
    intro st h
    have hl (l : List Nat) : ({ st with ready := l } : State).Conserves preset C B :=
      ⟨h.straight, h.queues, h.whole, h.engine, h.once, h.still, h.covers, h.calm⟩
    unfold drain
    split
    · exact h
    · apply ih
      split
      · exact exec_conserves ht hn _ _ _ (hl _) ‹_›
      · exact hl _

theorem admitAll_conserves (h : st.Conserves preset C B) : (admitAll x st).Conserves preset C B := by
  have hp : ∀ (p n : Nat) (st : State), st.Conserves preset C B → (admitPool x p n st).Conserves preset C B := by
    intro p n
    cases n with
    | zero => exact fun st h => h.fail
    | succ n =>
      intro st h
      unfold admitPool
      rw [h.nobody_is_admitted]
      exact h
  have hf : ∀ (specs : List PoolSpec) (p : Nat) (st : State), st.Conserves preset C B →
      (admitFrom x p specs st).Conserves preset C B := by
    intro specs
    induction specs with
    | nil => exact fun _ _ h => h
    | cons spec specs ih =>
      intro p st h
      unfold admitFrom
      apply ih
      split
      · exact h
      · exact hp _ _ _ h
  exact hf _ _ _ h

theorem settle_conserves (ht : x.w.turnSlot = none) (hn : ∀ c ∈ x.w.clients, c.turns = []) :
    ∀ (n : Nat) (st : State), st.Conserves preset C B → (settle x n st).Conserves preset C B := by
  intro n
  induction n with
  | zero => exact fun st h => h.fail
  | succ n ih =>
    intro st h
    have ha := admitAll_conserves (x := x) (drain_conserves ht hn fuel st h)
    unfold settle
    simp only
    split
    · exact ha
    · exact ih _ ha

end Serq
