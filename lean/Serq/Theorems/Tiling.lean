module

public import Serq.Theorems.BatchIsFill
public import Serq.Theorems.Conservation

/-!
# Prompts in whole tiles

How the work of prompts that are whole tiles stays so, and what a batch is of residents that are all served or not by
whether they decode.
-/

public section

namespace Serq

variable {x : Setting} {preset : Nat → Bool} {slot size n C : Nat} {B : List Grant} {st : State}

namespace State.Tiled

theorem session (h : st.Tiled slot size n B) (i : Nat) :
    (st.session i).code.prompts slot = true ∧ size ∣ nth 0 slot (st.session i).attrs := by
  by_cases hi : i < st.sessions.length
  · exact h.sessions _ (nth_mem _ _ _ hi)
  · rw [session_beyond (Nat.le_of_not_lt hi)]
    exact ⟨rfl, by show size ∣ nth 0 slot []; cases slot <;> exact Nat.dvd_zero _⟩

theorem setSession (h : st.Tiled slot size n B) (i : Nat) {s : Session} (hc : s.code.prompts slot = true)
    (ha : size ∣ nth 0 slot s.attrs) : (st.setSession i s).Tiled slot size n B where
  sessions t ht := by
    rcases mem_put ht with rfl | ht
    · exact ⟨hc, ha⟩
    · exact h.sessions t ht
  jobs := h.jobs
  batch := h.batch
  count := (length_put _ _ _).trans h.count

theorem fail (h : st.Tiled slot size n B) : st.fail.Tiled slot size n B := ⟨h.sessions, h.jobs, h.batch, h.count⟩

end State.Tiled

/-- A statement of a ready session keeps prompts in whole tiles. -/
theorem command_tiled (ht : x.w.turnSlot = none) (hn : ∀ c ∈ x.w.clients, c.turns = [])
    (h : st.Conserves preset C B) (hs : st.Tiled slot size n B) {i : Nat} (hr : (st.session i).status = .ready) :
    (command x i st).1.Tiled slot size n B := by
  have hne : ∀ j ∈ st.jobs, j.owner ≠ i := h.no_resident (by rw [hr]; nofun)
  have hB : ∀ g ∈ B, g.owner ≠ i := fun g hg he => by
    obtain ⟨j, hj, ho, _⟩ := h.covers g hg
    exact hne j hj (ho.trans he)
  obtain ⟨hc, ha⟩ := hs.session i
  have hf := (h.session i).2
  have hend : (endSession x i st).Tiled slot size n B := by
    unfold endSession
    rw [hf]
    exact hs.setSession i rfl ha
  have hjob (s : Session) (j : Job) (a : Option Nat) (hsc : s.code.prompts slot = true)
      (hsa : s.attrs = (st.session i).attrs) (hj : j.owner = i) (hw : 0 < j.work)
      (hd : j.decode = false → size ∣ j.work) :
      ({ st.setSession i s with jobs := insertJob st a j st.jobs } : State).Tiled slot size n B := by
    obtain ⟨b, c, e₁, e₂⟩ := insertJob_inserts st a j st.jobs
    have hmem : ∀ k, k ∈ insertJob st a j st.jobs → k = j ∨ k ∈ st.jobs := by
      intro k; rw [e₂, e₁]; simp; rintro (h | h | h) <;> simp [h]
    have hk := hs.setSession i hsc (hsa ▸ ha)
    refine ⟨hk.sessions, fun k hk' => ?_, fun g hg k hk' ho hdec => ?_, hk.count⟩
    · rcases hmem k hk' with rfl | hk'
      · exact ⟨hw, hd⟩
      · exact hs.jobs k hk'
    · rcases hmem k hk' with rfl | hk'
      · exact absurd (ho.symm.trans hj) (hB g hg)
      · exact hs.batch g hg k hk' ho hdec
  unfold command
  simp only
  split
  · exact hend
  · rename_i k value next he
    rw [he] at hc
    simp only [Code.prompts, Bool.and_eq_true, Bool.not_eq_true', beq_eq_false_iff_ne] at hc
    refine hs.setSession i hc.2 ?_
    rw [assign_is_function_update, if_neg fun hh => hc.1 hh.symm]
    exact ha
  · rename_i name value next he
    rw [he] at hc
    have hk := hs.setSession i (s := { st.session i with code := next }) hc ha
    exact ⟨hk.sessions, hk.jobs, hk.batch, hk.count⟩
  · rename_i next he
    rw [he] at hc
    have hturns : (nth ({} : Client) i x.w.clients).turns = [] := by
      by_cases hl : i < x.w.clients.length
      · exact hn _ (nth_mem _ _ _ hl)
      · rw [nth_beyond _ _ _ (Nat.le_of_not_lt hl)]
    unfold takeTurn countTurn
    simp only [ht, hturns]
    exact hs.setSession i hc ha
  · rename_i he; rw [he] at hc; cases hc
  · rename_i he; rw [he] at hc; cases hc
  · rename_i he; rw [he] at hc; cases hc
  · rename_i place e next he
    rw [he] at hc
    generalize hw : e.at (x.env st i) = work
    unfold startRun
    simp only
    have hnext : next.prompts slot = true := by
      cases place with
      | delay => exact hc
      | prefill g => simp only [Code.prompts, Bool.and_eq_true] at hc; exact hc.2
      | decode g => exact hc
    split
    · have hk := hs.setSession i (s := { st.session i with code := next }) hnext ha
      exact ⟨hk.sessions, hk.jobs, hk.batch, hk.count⟩
    · rename_i h0
      cases place with
      | delay =>
        have hk := hs.setSession i (s := { st.session i with
          code := next, status := .delay (x.now + work) st.events }) hnext ha
        exact ⟨hk.sessions, hk.jobs, hk.batch, hk.count⟩
      | prefill g =>
        simp only [Code.prompts, Bool.and_eq_true, decide_eq_true_eq] at hc
        refine hjob { st.session i with code := next, status := .engine }
          { owner := i, decode := false, work, grows := g } _ hnext rfl rfl (Nat.pos_of_ne_zero h0) fun _ => ?_
        show size ∣ work
        rw [← hw, hc.1]
        exact ha
      | decode g =>
        exact hjob { st.session i with code := next, status := .engine }
          { owner := i, decode := true, work, grows := g } _ hnext rfl rfl (Nat.pos_of_ne_zero h0) nofun
  · rename_i he; rw [he] at hc; cases hc
  · split
    · exact hend
    all_goals (rename_i hfr; rw [hf] at hfr; cases hfr)

theorem exec_tiled (ht : x.w.turnSlot = none) (hn : ∀ c ∈ x.w.clients, c.turns = []) (i : Nat) :
    ∀ (k : Nat) (st : State), st.Both preset slot size n C B → (st.session i).status = .ready →
      (exec x i k st).Both preset slot size n C B := by
  intro k
  induction k with
  | zero => exact fun st h _ => ⟨h.1.fail, h.2.fail⟩
  | succ k ih =>
    intro st h hr
    obtain ⟨h₁, h₂⟩ := command_conserves ht hn h.1 hr
    have h₃ := command_tiled ht hn h.1 h.2 hr
    unfold exec
    split
    · rename_i st' he
      rw [he] at h₁ h₂ h₃
      exact ih _ ⟨h₁, h₃⟩ (h₂ rfl)
    · rename_i st' he
      rw [he] at h₁ h₃
      exact ⟨h₁, h₃⟩

theorem settle_tiled (ht : x.w.turnSlot = none) (hn : ∀ c ∈ x.w.clients, c.turns = []) :
    ∀ (k : Nat) (st : State), st.Both preset slot size n C B → (settle x k st).Both preset slot size n C B := by
  have hd : ∀ (k : Nat) (st : State), st.Both preset slot size n C B → (drain x k st).Both preset slot size n C B := by
    intro k
    induction k with
    | zero => exact fun st h => ⟨h.1.fail, h.2.fail⟩
    | succ k ih =>
      intro st h
      have hl (l : List Nat) : ({ st with ready := l } : State).Both preset slot size n C B :=
        ⟨⟨h.1.straight, h.1.queues, h.1.whole, h.1.engine, h.1.once, h.1.still, h.1.covers, h.1.calm⟩,
          ⟨h.2.sessions, h.2.jobs, h.2.batch, h.2.count⟩⟩
      unfold drain
      split
      · exact h
      · apply ih
        split
        · exact exec_tiled ht hn _ _ _ (hl _) ‹_›
        · exact hl _
  have hf : ∀ (specs : List PoolSpec) (p : Nat) (st : State), st.Both preset slot size n C B →
      (admitFrom x p specs st).Both preset slot size n C B := by
    intro specs
    induction specs with
    | nil => exact fun _ _ h => h
    | cons spec specs ih =>
      intro p st h
      unfold admitFrom
      apply ih
      split
      · exact h
      · show (admitPool x p (99999 + 1) st).Both preset slot size n C B
        unfold admitPool
        rw [h.1.nobody_is_admitted]
        exact h
  intro k
  induction k with
  | zero => exact fun st h => ⟨h.1.fail, h.2.fail⟩
  | succ k ih =>
    intro st h
    have ha : (admitAll x (drain x fuel st)).Both preset slot size n C B := hf _ _ _ (hd fuel st h)
    unfold settle
    simp only
    split
    · exact ha
    · exact ih _ ha

/-! ## The end of an iteration -/

theorem dvd_of_batch {batch : List Grant} {o : Nat} (h : ∀ g ∈ batch, o = g.owner → size ∣ g.tokens) :
    size ∣ sumOf (fun g => if g.owner = o then g.tokens else 0) batch := by
  induction batch with
  | nil => exact Nat.dvd_zero _
  | cons g gs ih =>
    have := ih fun g' hg' => h g' (by simp [hg'])
    unfold sumOf
    refine Nat.dvd_add ?_ this
    split
    · rename_i ho; exact h g (by simp) ho.symm
    · exact Nat.dvd_zero _

theorem applyBatch_tiled {batch : List Grant} (h : st.Tiled slot size n batch) :
    (applyBatch batch st).Tiled slot size n [] := by
  unfold applyBatch
  simp only
  generalize completed _ _ = l
  have hfold : ∀ (l : List Nat) (s : State), s.Tiled slot size n [] → (l.foldl State.wake s).Tiled slot size n [] := by
    intro l
    induction l with
    | nil => exact fun _ h => h
    | cons i l ih =>
      intro s hs
      have hk := hs.setSession i (s := { s.session i with status := .ready }) (hs.session i).1 (hs.session i).2
      exact ih _ ⟨hk.sessions, hk.jobs, hk.batch, hk.count⟩
  refine hfold l _ ⟨h.sessions, fun j hj => ?_, nofun, h.count⟩
  obtain ⟨hj, hw⟩ := List.mem_filter.mp hj
  obtain ⟨k, hk, rfl⟩ := List.mem_map.mp hj
  refine ⟨Nat.pos_of_ne_zero (by simpa using hw), fun hd => ?_⟩
  exact Nat.dvd_sub ((h.jobs k hk).2 hd) (dvd_of_batch fun g hg ho => h.batch g hg k hk ho hd)

/-! ## Planning -/

theorem plan_fills_those_served {chunk : Nat} {serves : Job → Bool} (hs : ∀ j, x.serves st j = serves j) :
    ∀ (k : Nat) (b : Plan), b.todo.length < k → b.state = st → firstQueue st 0 x.d.pools = none →
      st.preempted = [] → (∀ j ∈ b.todo, j.grows = false) →
      (plan x chunk k b).batch = b.batch ++ fillJobs chunk b.left (b.todo.filter serves) ∧
        (plan x chunk k b).state = st := by
  intro k
  induction k with
  | zero => intro b h; omega
  | succ k ih =>
    intro b hk hst hq hp hg
    unfold plan
    by_cases hl : b.left = 0
    · rw [if_pos hl, hl, fillJobs_of_nothing, List.append_nil]; exact ⟨rfl, hst⟩
    · rw [if_neg hl]
      cases ht : b.todo with
      | nil => simp [hst, hp, admitOne, hq, fillJobs]
      | cons j more =>
        rw [ht] at hk hg
        have hk' : more.length < k := by simpa using hk
        have hgone : b.gone j = false := by simp [Plan.gone, hst, hp]
        have hj := hg j (by simp)
        have hm : ∀ i ∈ more, i.grows = false := fun i hi => hg i (by simp [hi])
        have hs' : ∀ j, x.serves b.state j = serves j := hst ▸ hs
        simp only [hgone, Bool.false_eq_true, if_false, serve, hs', hj, Bool.not_false, if_true]
        generalize ht' : (if j.want chunk ≤ b.left then j.want chunk else b.left) = t
        by_cases h0 : t = 0
        · simp only [if_pos h0]
          obtain ⟨h₁, h₂⟩ := ih { b with todo := more, had := j :: b.had } hk' hst hq hp hm
          rw [h₁, h₂]
          refine ⟨?_, rfl⟩
          by_cases hsv : serves j = true
          · simp [List.filter, hsv, fillJobs, ht', h0]
          · simp [List.filter, hsv]
        · simp only [if_neg h0]
          by_cases hsv : serves j = true
          · simp only [hsv, Bool.not_true, Bool.false_eq_true, if_false]
            obtain ⟨h₁, h₂⟩ := ih (({ b with todo := more, had := j :: b.had } : Plan).give j t 0) hk' hst hq hp hm
            rw [h₁, h₂]
            simp [List.filter, hsv, fillJobs, ht', h0, Plan.give]
          · have hsv' : serves j = false := by simpa using hsv
            simp only [hsv', Bool.not_false, if_true]
            obtain ⟨h₁, h₂⟩ := ih { b with todo := more, had := j :: b.had } hk' hst hq hp hm
            rw [h₁, h₂]
            simp [List.filter, hsv']

/-- Different numbers below a bound are no more than the bound. -/
theorem length_of_distinct : ∀ (k : Nat) (l : List Nat), l.Nodup → (∀ i ∈ l, i < k) → l.length ≤ k := by
  intro k
  induction k with
  | zero =>
    intro l _ h
    cases l with
    | nil => simp
    | cons a l => exact absurd (h a (by simp)) (by omega)
  | succ k ih =>
    intro l hd h
    have hlen : l.length ≤ (l.erase k).length + 1 := by
      by_cases hm : k ∈ l
      · rw [List.length_erase_of_mem hm]; omega
      · rw [List.erase_of_not_mem hm]; omega
    have := ih (l.erase k) (hd.erase k) fun i hi => by
      have hi' := (hd.mem_erase_iff).mp hi
      have := h i hi'.2
      omega
    omega

theorem residents_are_sessions (h : st.Conserves preset C B) : st.jobs.length ≤ st.sessions.length := by
  have := length_of_distinct st.sessions.length (st.jobs.map Job.owner) h.once fun i hi => by
    obtain ⟨j, hj, rfl⟩ := List.mem_map.mp hi
    refine Nat.lt_of_not_le fun hl => ?_
    have he := h.engine j hj
    rw [session_beyond hl] at he
    cases he
  simpa using this

/-! ## Batches -/

/-- Decodes get a token each: there are as many as tokens. -/
theorem fill_of_decodes {chunk : Nat} : ∀ (l : List Job) (left : Nat), (∀ j ∈ l, j.decode = true ∧ 0 < j.work) →
    countOf Grant.decode (fillJobs chunk left l) = min left l.length ∧
      sumOf Grant.tokens (fillJobs chunk left l) = min left l.length := by
  intro l
  induction l with
  | nil => intro left _; simp [fillJobs, countOf, sumOf]
  | cons j l ih =>
    intro left h
    obtain ⟨hd, hw⟩ := h j (by simp)
    have hwant : j.want chunk = 1 := by
      unfold Job.want
      rw [if_pos hd]
      split <;> omega
    have hrest : ∀ k ∈ l, k.decode = true ∧ 0 < k.work := fun k hk => h k (by simp [hk])
    by_cases hl : left = 0
    · rw [hl, fillJobs_of_nothing]; simp [countOf, sumOf]
    · have h1 : (if 1 ≤ left then 1 else left) = 1 := if_pos (by omega)
      obtain ⟨h₁, h₂⟩ := ih (left - 1) hrest
      simp only [fillJobs, hwant, h1, Nat.one_ne_zero, if_false, countOf, sumOf, Job.grant, hd, Bool.toNat_true]
      rw [h₁, h₂, List.length_cons]
      omega

/-- Prompts in whole tiles get a tile, the first of them. -/
theorem fill_of_prompts (hz : 0 < size) : ∀ (l : List Job), l ≠ [] →
    (∀ j ∈ l, j.decode = false ∧ 0 < j.work ∧ size ∣ j.work) →
    ∃ g, fillJobs size size l = [g] ∧ g.tokens = size := by
  intro l hne h
  cases l with
  | nil => exact absurd rfl hne
  | cons j l =>
    obtain ⟨hd, hw, hv⟩ := h j (by simp)
    have hle := Nat.le_of_dvd hw hv
    have hwant : j.want size = size := by
      unfold Job.want
      rw [if_neg (by simp [hd]), if_neg (by omega)]
      split <;> omega
    refine ⟨j.grant size 0, ?_, rfl⟩
    have h0 : size ≠ 0 := by omega
    simp [fillJobs, hwant, h0, fillJobs_of_nothing]

end Serq
