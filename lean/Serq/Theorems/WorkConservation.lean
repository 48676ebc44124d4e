module

public import Serq.Theorems.ServedRate

/-!
# Work conservation

An iteration that preempts nobody hands out as many tokens as the budget and its residents allow: nothing is
left over while a resident could take it.
-/

@[expose] public section

namespace Serq

/-! ## Lists of jobs -/

theorem sumOf_perm {α : Type} (f : α → Nat) {l m : List α} (h : l.Perm m) : sumOf f l = sumOf f m := by
  induction h with
  | nil => rfl
  | cons a _ ih => simp [sumOf, ih]
  | swap a b l => simp [sumOf]; omega
  | trans _ _ ih₁ ih₂ => exact ih₁.trans ih₂

theorem sumOf_append_lists {α : Type} (f : α → Nat) (l m : List α) :
    sumOf f (l ++ m) = sumOf f l + sumOf f m := by
  induction l with
  | nil => simp [sumOf]
  | cons a l ih => simp [sumOf, ih]; omega

theorem dropJob_perm {j : Job} : ∀ {jobs : List Job}, j ∈ jobs → jobs.Perm (j :: dropJob j jobs) := by
  intro jobs
  induction jobs with
  | nil => intro h; cases h
  | cons k ks ih =>
    intro h
    unfold dropJob
    split
    · rename_i e; rw [e]
    · rcases List.mem_cons.mp h with rfl | h
      · rename_i e; exact absurd rfl e
      · exact (List.Perm.cons k (ih h)).trans (.swap _ _ _)

theorem newJobs_perm : ∀ {had jobs more : List Job}, jobs.Perm (had ++ more) →
    jobs.Perm (had ++ newJobs had jobs) := by
  intro had
  induction had with
  | nil => intro jobs more _; exact .refl _
  | cons j had ih =>
    intro jobs more h
    have hd := dropJob_perm (h.mem_iff.mpr (by simp) : j ∈ jobs)
    have := ih (List.Perm.cons_inv (hd.symm.trans h))
    exact hd.trans (.cons j this)

/-! ## Growth that preempts nobody -/

variable {x : Setting}

theorem preempt_preempts (v p : Nat) (st : State) :
    (preempt x v p st).fault = true ∨ (preempt x v p st).preempted ≠ [] := by
  unfold preempt
  split
  · exact .inl rfl
  · refine .inr fun h => ?_
    have h₁ := (evolves_unwind (now := 0) (plan := true) (x := x) v p _ _).trans
      (evolves_rejoin (now := 0) v _) |>.preempted_stays h
    simp [State.outline] at h₁

theorem grow_without_preempting {i p t : Nat} : ∀ (n : Nat) (st : State),
    (grow x i p t n st).1.fault = false → (grow x i p t n st).1.preempted = [] →
    (grow x i p t n st).2 = true ∧ (grow x i p t n st).1.jobs = st.jobs := by
  intro n st
  cases n with
  | zero => intro hf; simp [grow, State.fail] at hf
  | succ n =>
    unfold grow
    simp only
    split
    · intro hf; simp [State.fail] at hf
    · split
      · exact fun _ _ => ⟨rfl, rfl⟩
      · split
        · exact fun _ _ => ⟨rfl, rfl⟩
        · split
          · intro hf; simp [State.fail] at hf
          · rename_i v _
            split
            · intro hf hp
              rcases preempt_preempts (x := x) v p st with h | h
              · rw [h] at hf; cases hf
              · exact absurd hp h
            · intro hf hp
              have he := evolves_grow (now := 0) (x := x) i p t n (preempt x v p st)
              rcases preempt_preempts (x := x) v p st with h | h
              · have := he.fault_stays h; simp only [State.outline] at this; rw [this] at hf; cases hf
              · exact absurd (he.preempted_stays hp) h

/-! ## Plans that preempt nobody -/

/-- What the residents that had their turn got is all they wanted, unless the budget is used up. -/
structure Plan.Greedy (chunk : Nat) (b : Plan) : Prop where
  jobs : b.state.jobs.Perm (b.had ++ b.todo)
  given : b.given = sumOf (Job.want chunk) b.had ∨
    (b.left = 0 ∧ b.given ≤ sumOf (Job.want chunk) b.had)

/-- A plan that is over: the budget is used up, or everyone had a turn. -/
def Plan.Complete (chunk : Nat) (b : Plan) : Prop :=
  b.Greedy chunk ∧ (b.left = 0 ∨ b.todo = [])

theorem serve_evolves (chunk : Nat) (j : Job) (b : Plan) :
    Evolves x.now true b.state.outline (serve x chunk j b).1.state.outline :=
  (keptByPlans_evolves (x := x) b.state.outline).serve (.refl _)

theorem giving_is_greedy {chunk : Nat} {j : Job} {more : List Job} {b : Plan} {t before : Nat}
    (h : b.Greedy chunk) (ht : b.todo = j :: more)
    (e : t = if j.want chunk ≤ b.left then j.want chunk else b.left) (st : State)
    (hj : st.jobs = b.state.jobs) :
    Plan.Greedy chunk (({ b with state := st, todo := more, had := j :: b.had } : Plan).give j t before) := by
  constructor
  · show st.jobs.Perm (j :: b.had ++ more)
    rw [hj]
    refine h.jobs.trans ?_
    rw [ht]
    exact List.perm_middle
  · have hg := h.given
    simp only [Plan.give, Plan.given, sumOf_append_one, Job.grant, sumOf] at hg ⊢
    by_cases hw : j.want chunk ≤ b.left
    · simp only [hw, if_true] at e; omega
    · simp only [hw, if_false] at e; omega

theorem serve_is_greedy {chunk : Nat} {j : Job} {more : List Job} {b : Plan} (ho : x.d.only = none)
    (h : b.Greedy chunk) (hl : b.left ≠ 0) (ht : b.todo = j :: more)
    (hf : (serve x chunk j { b with todo := more, had := j :: b.had }).1.state.fault = false)
    (hp : (serve x chunk j { b with todo := more, had := j :: b.had }).1.state.preempted = []) :
    (serve x chunk j { b with todo := more, had := j :: b.had }).2 = true ∧
      (serve x chunk j { b with todo := more, had := j :: b.had }).1.Greedy chunk := by
  unfold serve at hf hp ⊢
  simp only at hf hp ⊢
  generalize e : (if j.want chunk ≤ b.left then j.want chunk else b.left) = t at hf hp ⊢
  by_cases h0 : t = 0
  · rw [if_pos h0]
    refine ⟨rfl, ⟨h.jobs.trans (by rw [ht]; exact List.perm_middle), ?_⟩⟩
    have hg := h.given
    have : j.want chunk = 0 := by
      by_cases hw : j.want chunk ≤ b.left
      · rw [if_pos hw] at e; omega
      · rw [if_neg hw] at e; omega
    simp only [Plan.given, sumOf] at hg ⊢
    omega
  · have hs : (!x.serves b.state j) = false := by simp [Setting.serves, ho]
    rw [if_neg h0, if_neg (by simp [hs])] at hf hp ⊢
    by_cases hgr : (!j.grows) = true
    · rw [if_pos hgr]
      exact ⟨rfl, giving_is_greedy h ht e.symm b.state rfl⟩
    · rw [if_neg hgr] at hf hp ⊢
      cases hm : x.d.memory with
      | none => simp [hm, State.fail] at hf
      | some p =>
        simp only [hm] at hf hp ⊢
        have hgw := grow_without_preempting (x := x) (i := j.owner) (p := p) (t := t)
          (b.state.jobs.length + 1) b.state
        generalize grow x j.owner p t (b.state.jobs.length + 1) b.state = r at hf hp hgw ⊢
        obtain ⟨st, grew⟩ := r
        have hst : st.fault = false ∧ st.preempted = [] := by
          cases grew <;> exact ⟨hf, hp⟩
        obtain ⟨rfl, hj⟩ := hgw hst.1 hst.2
        have ha : ({ b with todo := more, had := j :: b.had } : Plan).after st
            = { b with state := st, todo := more, had := j :: b.had } := by
          simp [Plan.after, hst.2, Plan.given]
        simp only [ha]
        exact ⟨trivial, giving_is_greedy h ht e.symm st hj⟩

theorem plan_is_greedy {chunk : Nat} (ho : x.d.only = none) : ∀ (n : Nat) (b : Plan), b.Greedy chunk →
    (plan x chunk n b).state.fault = false → (plan x chunk n b).state.preempted = [] →
    (plan x chunk n b).Complete chunk := by
  intro n
  induction n with
  | zero => intro b _ hf; simp [plan, State.fail] at hf
  | succ n ih =>
    intro b hb hf hp
    unfold plan at hf hp ⊢
    by_cases hl : b.left = 0
    · rw [if_pos hl] at hf hp ⊢
      exact ⟨hb, .inl hl⟩
    · rw [if_neg hl] at hf hp ⊢
      cases ht : b.todo with
      | cons j more =>
        simp only [ht] at hf hp ⊢
        by_cases hg : b.gone j = true
        · rw [if_pos hg] at hf hp
          have := (plan_evolves' x chunk n _).preempted_stays hp
          simp only [State.outline] at this
          simp [Plan.gone, this] at hg
        · rw [if_neg hg] at hf hp ⊢
          have hs := serve_is_greedy (x := x) ho hb hl ht
          generalize serve x chunk j { b with todo := more, had := j :: b.had } = r at hf hp hs ⊢
          obtain ⟨b', go⟩ := r
          cases go with
          | true =>
            simp only at hf hp hs ⊢
            have hev := plan_evolves' x chunk n b'
            have hf' : b'.state.fault = false := by
              cases hb' : b'.state.fault with
              | false => rfl
              | true => exact absurd (hev.fault_stays hb') (by simp [State.outline, hf])
            exact ih _ (hs hf' (hev.preempted_stays hp)).2 hf hp
          | false => exact absurd (hs hf hp).1 (by simp)
      | nil =>
        simp only [ht] at hf hp ⊢
        cases hpr : b.state.preempted with
        | cons v vs => simp only [hpr] at hp; cases hp
        | nil =>
          simp only [hpr] at hf hp ⊢
          cases ha : admitOne x b.left b.state with
          | none =>
            simp only [ha] at hf hp ⊢
            exact ⟨hb, .inr ht⟩
          | some st =>
            simp only [ha] at hf hp ⊢
            refine ih _ ⟨?_, ?_⟩ hf hp
            · have hev := (keptBySessions_evolves (x := x) b.state.outline).admitOne
                (P := fun st => Evolves x.now false b.state.outline st.outline) (.refl _) ha
              obtain ⟨extra, he⟩ := hev.jobs_are_added (hev.nobody_preempted.trans hpr)
              have hb' := hb.jobs
              rw [ht, List.append_nil] at hb'
              exact newJobs_perm (he.trans (hb'.append_right extra))
            · exact hb.given
where
  plan_evolves' (x : Setting) (chunk n : Nat) (b : Plan) :
      Evolves x.now true b.state.outline (plan x chunk n b).state.outline :=
    (keptByPlans_evolves b.state.outline).plan chunk n b (.refl _)

/-- **A plan that preempts nobody gives out the lesser of the budget and the demand.** -/
theorem plans_are_work_conserving {st : State} (ho : x.d.only = none)
    (hf : (planned x st).state.fault = false) (hp : (planned x st).state.preempted = []) :
    (planned x st).given
      = min x.d.budget (sumOf (Job.want (x.chunk st)) (planned x st).state.jobs) := by
  have h := plan_is_greedy (x := x) (chunk := x.chunk st) ho fuel
    { state := st, left := x.d.budget, todo := st.jobs } ⟨.refl _, .inl rfl⟩ hf hp
  have hk := plans_keep_given_plus_left (x := x) (chunk := x.chunk st) fuel
    { state := st, left := x.d.budget, todo := st.jobs }
  have h0 : Plan.given { state := st, left := x.d.budget, todo := st.jobs } = 0 := rfl
  simp only [h0] at hk
  change (planned x st).given + (planned x st).left = 0 + x.d.budget at hk
  obtain ⟨⟨hj, hg⟩, hd⟩ := h
  change (planned x st).state.jobs.Perm ((planned x st).had ++ (planned x st).todo) at hj
  change (planned x st).given = sumOf (Job.want (x.chunk st)) (planned x st).had ∨
    ((planned x st).left = 0 ∧ (planned x st).given ≤ sumOf (Job.want (x.chunk st)) (planned x st).had) at hg
  change (planned x st).left = 0 ∨ (planned x st).todo = [] at hd
  rw [sumOf_perm _ hj, sumOf_append_lists]
  rcases hd with hd | hd
  · omega
  · rw [hd]; simp only [sumOf]; omega

namespace Machine

variable {d : Deployment} {w : Workload}

/-- Every iteration on record that preempted nobody gave out the lesser of the budget and the demand; and
between events no preemption is waiting to go on record. -/
structure WorkConserving (d : Deployment) (m : Machine) : Prop where
  log : ∀ r ∈ m.log, r.preempted = [] → r.tokens = min d.budget r.demand
  preempted : m.state.preempted = []

theorem noteFinished_work {m : Machine}
    (h : ∀ r ∈ m.log, r.preempted = [] → r.tokens = min d.budget r.demand) :
    ∀ r ∈ m.noteFinished.log, r.preempted = [] → r.tokens = min d.budget r.demand := by
  unfold noteFinished
  split
  · rename_i r₀ log _ hl
    rw [hl] at h
    intro r hr
    rcases List.mem_cons.mp hr with rfl | hr
    · exact h r₀ (by simp)
    · exact h r (by simp [hr])
  · exact h

theorem afterEvent_work {m : Machine} (ho : d.only = none) (h : WorkConserving d m)
    (hf : (m.afterEvent d w).state.fault = false) : WorkConserving d (m.afterEvent d w) := by
  obtain ⟨st, hev, hst, hc⟩ := afterEvent_cases (d := d) (w := w) m
  have hl := noteFinished_work (m := { m with state := settle (m.setting d w) fuel m.state }) h.log
  have hp : st.preempted = [] := hev.nobody_preempted.trans h.preempted
  rcases hc with hc | ⟨hr, hc⟩
  · rw [hc]; exact ⟨hl, by rw [hst]; exact hp⟩
  · rw [hc] at hf ⊢
    generalize noteFinished { m with state := settle (m.setting d w) fuel m.state } = m' at *
    unfold begin at hf ⊢
    split
    · rename_i hb hpre
      exact ⟨hl, hpre⟩
    · rename_i hne
      have hf' : (planned (m'.setting d w) st).state.fault = false := by
        split at hf <;> exact hf
      refine ⟨fun r hr' => ?_, rfl⟩
      rcases List.mem_cons.mp hr' with rfl | hr'
      · intro hpre
        exact plans_are_work_conserving (x := m'.setting d w) ho hf' hpre
      · exact hl r hr'

/-- An event preempts nobody. -/
theorem handle_preempts_nobody {m m' : Machine} (he : m.handle = some m') :
    m'.state.preempted = m.state.preempted ∧ m'.log = m.log := by
  have hd (e : Delay) (more : List Delay) :
      (m.endDelay e more).state.preempted = m.state.preempted ∧ (m.endDelay e more).log = m.log := by
    refine ⟨?_, rfl⟩
    unfold endDelay
    simp only
    split
    · split <;> rfl
    · rfl
  have hi (r : Running) :
      (m.endIteration r).state.preempted = m.state.preempted ∧ (m.endIteration r).log = m.log := by
    refine ⟨?_, rfl⟩
    show (applyBatch r.batch m.state).preempted = _
    unfold applyBatch
    simp only
    generalize completed _ _ = l
    suffices hw : ∀ (l : List Nat) (s : State), (l.foldl State.wake s).preempted = s.preempted by rw [hw]
    intro l
    induction l with
    | nil => exact fun _ => rfl
    | cons i l ih => intro s; simp only [List.foldl]; rw [ih]; rfl
  unfold handle at he
  split at he
  · cases he
  · cases he; exact hi _
  · cases he; exact hd _ _
  · split at he
    · cases he; exact hd _ _
    · cases he; exact hi _

theorem handle_work {m m' : Machine} (h : WorkConserving d m) (he : m.handle = some m') :
    WorkConserving d m' := by
  obtain ⟨h₁, h₂⟩ := handle_preempts_nobody he
  exact ⟨h₂ ▸ h.log, h₁.trans h.preempted⟩

/-- **Work conservation.** Where every resident may be served, every iteration of every program that
preempts nobody hands out the lesser of the token budget and what its residents could take. -/
theorem iterations_that_preempt_nobody_are_work_conserving {program : Code} {m : Machine}
    (ho : d.only = none) (h : Reach d w program m) :
    ∀ r ∈ m.log, r.preempted = [] → r.tokens = min d.budget r.demand := by
  have hs {m m' : Machine} (h : m.sound = some m') : m = m' ∧ m'.state.fault = false := by
    unfold sound at h
    split at h
    · cases h
    · rename_i hn
      cases h
      exact ⟨rfl, by simpa using hn⟩
  suffices hw : WorkConserving d m from hw.log
  induction h with
  | start h =>
    unfold Serq.start at h
    obtain ⟨rfl, hf⟩ := hs h
    exact afterEvent_work ho ⟨by simp [initial], rfl⟩ hf
  | step _ h ih =>
    unfold Serq.step at h
    split at h
    · cases h
    · rename_i he
      obtain ⟨rfl, hf⟩ := hs h
      exact afterEvent_work ho (handle_work ih he) hf

end Machine

end Serq
