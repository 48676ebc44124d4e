module

public import Serq.Theorems.ServedRate
public import Serq.Theorems.Work

/-!
# Conservation of work

No token is lost, and none is made: on every machine that a straight program reaches, the tokens served, what the
residents have left and what no session has begun yet add up to the work of all sessions, with the tokens of
the running iteration counted as served and as left.
-/

public section

namespace Serq

variable {x : Setting} {preset : Nat → Bool} {C : Nat} {st : State}

/-! ## Iterations -/

theorem want_le_work (chunk : Nat) (j : Job) : j.want chunk ≤ j.work := by
  unfold Job.want
  repeat' split
  all_goals omega

theorem firstQueue_of_nobody (h : st.Conserves preset C B) : ∀ (specs : List PoolSpec) (p : Nat),
    firstQueue st p specs = none := by
  intro specs
  induction specs with
  | nil => exact fun _ => rfl
  | cons spec specs ih =>
    intro p
    unfold firstQueue
    rw [h.nobody_waits p]
    simp [ih]

/-- What a plan gives out is covered by what the residents have left, each of them once. -/
theorem plan_covers {chunk : Nat} (h : st.Conserves preset C []) : ∀ (n : Nat) (b : Plan),
    b.state = st ∨ b.state = st.fail → (∀ j ∈ b.todo, j ∈ st.jobs) →
    (b.batch.map Grant.owner ++ b.todo.map Job.owner).Nodup →
    (∀ g ∈ b.batch, ∃ j ∈ st.jobs, j.owner = g.owner ∧ g.tokens ≤ j.work) →
    let r := plan x chunk n b
    (r.state = st ∨ r.state = st.fail) ∧ (r.batch.map Grant.owner).Nodup ∧
      ∀ g ∈ r.batch, ∃ j ∈ st.jobs, j.owner = g.owner ∧ g.tokens ≤ j.work := by
  intro n
  induction n with
  | zero =>
    intro b hs _ hd hc
    refine ⟨.inr ?_, (List.nodup_append.mp hd).1, hc⟩
    show b.state.fail = _
    rcases hs with hs | hs <;> rw [hs] <;> rfl
  | succ n ih =>
    intro b hs ht hd hc
    have hcalm : b.state.preempted = [] := by rcases hs with hs | hs <;> rw [hs] <;> exact h.calm
    have hq : firstQueue b.state 0 x.d.pools = none := by
      rcases hs with hs | hs <;> rw [hs]
      · exact firstQueue_of_nobody h _ _
      · exact firstQueue_of_nobody h.fail _ _
    have hstop : (b.batch.map Grant.owner).Nodup := (List.nodup_append.mp hd).1
    intro r
    show (r.state = st ∨ r.state = st.fail) ∧ _
    have hr : r = plan x chunk (n + 1) b := rfl
    unfold plan at hr
    by_cases hl : b.left = 0
    · rw [if_pos hl] at hr
      rw [hr]; exact ⟨hs, hstop, hc⟩
    · rw [if_neg hl] at hr
      cases htodo : b.todo with
      | nil =>
        simp only [htodo, hcalm, admitOne, hq] at hr
        rw [hr]; exact ⟨hs, hstop, hc⟩
      | cons j more =>
        rw [htodo] at ht hd
        have hj := ht j (by simp)
        have hm : ∀ k ∈ more, k ∈ st.jobs := fun k hk => ht k (by simp [hk])
        have hgone : b.gone j = false := by simp [Plan.gone, hcalm]
        have hskip : (b.batch.map Grant.owner ++ more.map Job.owner).Nodup :=
          hd.sublist (List.Sublist.append_left (List.sublist_cons_self _ _) _)
        simp only [htodo, hgone, Bool.false_eq_true, if_false, serve, h.still j hj, Bool.not_false,
          if_true] at hr
        generalize ht' : (if j.want chunk ≤ b.left then j.want chunk else b.left) = t at hr
        have hle : t ≤ j.work := by
          have := want_le_work chunk j
          rw [← ht']; split <;> omega
        by_cases h0 : t = 0
        · simp only [if_pos h0] at hr
          rw [hr]
          exact ih _ hs hm hskip hc
        · simp only [if_neg h0] at hr
          by_cases hsv : (!x.serves b.state j) = true
          · simp only [if_pos hsv] at hr
            rw [hr]
            exact ih _ hs hm hskip hc
          · simp only [if_neg hsv] at hr
            rw [hr]
            refine ih _ hs hm ?_ ?_
            · show (List.map Grant.owner (b.batch ++ [j.grant t 0]) ++ more.map Job.owner).Nodup
              rw [List.map_append, List.append_assoc]
              exact hd
            · intro g hg
              rcases List.mem_append.mp hg with hg | hg
              · exact hc g hg
              · simp at hg; subst hg
                exact ⟨j, hj, rfl, hle⟩

/-! ## The end of an iteration -/

theorem after_of_others {g : Grant} : ∀ jobs : List Job, (∀ j ∈ jobs, j.owner ≠ g.owner) →
    sumOf Job.work (jobs.map (Job.after [g])) = sumOf Job.work jobs := by
  intro jobs
  induction jobs with
  | nil => exact fun _ => rfl
  | cons j js ih =>
    intro h
    have hj : g.owner ≠ j.owner := fun he => h j (by simp) he.symm
    have := ih fun k hk => h k (by simp [hk])
    simp [sumOf, Job.after, hj] at this ⊢
    omega

theorem after_of_one {g : Grant} : ∀ jobs : List Job, (jobs.map Job.owner).Nodup →
    (∃ j ∈ jobs, j.owner = g.owner ∧ g.tokens ≤ j.work) →
    sumOf Job.work (jobs.map (Job.after [g])) + g.tokens = sumOf Job.work jobs := by
  intro jobs
  induction jobs with
  | nil => rintro _ ⟨j, hj, _⟩; cases hj
  | cons k ks ih =>
    intro hd hc
    rw [List.map_cons, List.nodup_cons] at hd
    by_cases hk : g.owner = k.owner
    · have ho := after_of_others (g := g) ks fun j hj he =>
        hd.1 (List.mem_map.mpr ⟨j, hj, he.trans hk⟩)
      have hle : g.tokens ≤ k.work := by
        obtain ⟨j, hj, he, hw⟩ := hc
        rcases List.mem_cons.mp hj with rfl | hj
        · exact hw
        · exact absurd (List.mem_map.mpr ⟨j, hj, he.trans hk⟩) hd.1
      have hs : (Job.after [g] k).work = k.work - g.tokens := by simp [Job.after, sumOf, hk]
      show (Job.after [g] k).work + sumOf Job.work (ks.map (Job.after [g])) + g.tokens
        = k.work + sumOf Job.work ks
      omega
    · have hi := ih hd.2 (by
        obtain ⟨j, hj, he, hw⟩ := hc
        rcases List.mem_cons.mp hj with rfl | hj
        · exact absurd he.symm hk
        · exact ⟨j, hj, he, hw⟩)
      have hs : (Job.after [g] k).work = k.work := by simp [Job.after, sumOf, hk]
      show (Job.after [g] k).work + sumOf Job.work (ks.map (Job.after [g])) + g.tokens
        = k.work + sumOf Job.work ks
      omega

theorem owner_after (batch : List Grant) (jobs : List Job) :
    (jobs.map (Job.after batch)).map Job.owner = jobs.map Job.owner := by
  rw [List.map_map]; rfl

theorem after_cons (g : Grant) (batch : List Grant) (j : Job) :
    Job.after (g :: batch) j = Job.after batch (Job.after [g] j) := by
  simp only [Job.after, sumOf, Nat.add_zero, Nat.sub_sub]

/-- What residents have left after an iteration, with its tokens, is what they had left before. -/
theorem after_batch : ∀ (batch : List Grant) (jobs : List Job), (batch.map Grant.owner).Nodup →
    (jobs.map Job.owner).Nodup → (∀ g ∈ batch, ∃ j ∈ jobs, j.owner = g.owner ∧ g.tokens ≤ j.work) →
    sumOf Job.work (jobs.map (Job.after batch)) + sumOf Grant.tokens batch = sumOf Job.work jobs := by
  intro batch
  induction batch with
  | nil =>
    intro jobs _ _ _
    have : jobs.map (Job.after []) = jobs := by
      have : Job.after [] = id := by funext j; simp [Job.after, sumOf]
      rw [this, List.map_id]
    rw [this]; rfl
  | cons g batch ih =>
    intro jobs hb hj hc
    rw [List.map_cons, List.nodup_cons] at hb
    have h₁ := after_of_one jobs hj (hc g (by simp))
    have h₂ := ih (jobs.map (Job.after [g])) hb.2 (by rw [owner_after]; exact hj) fun g' hg' => by
      obtain ⟨j, hj', he, hw⟩ := hc g' (by simp [hg'])
      refine ⟨Job.after [g] j, List.mem_map.mpr ⟨j, hj', rfl⟩, he, ?_⟩
      have hne : g.owner ≠ j.owner := fun hh => hb.1 (List.mem_map.mpr ⟨g', hg', (hh.trans he).symm⟩)
      have : (Job.after [g] j).work = j.work := by simp [Job.after, sumOf, hne]
      rw [this]; exact hw
    have hm : jobs.map (Job.after (g :: batch)) = (jobs.map (Job.after [g])).map (Job.after batch) := by
      rw [List.map_map]
      exact List.map_congr_left fun j _ => after_cons g batch j
    rw [hm]
    show _ + (g.tokens + sumOf Grant.tokens batch) = _
    omega

theorem work_of_unfinished : ∀ jobs : List Job,
    sumOf Job.work (jobs.filter fun j => j.work ≠ 0) = sumOf Job.work jobs := by
  intro jobs
  induction jobs with
  | nil => rfl
  | cons j js ih =>
    by_cases hj : j.work = 0
    · simp [hj, sumOf] at ih ⊢; exact ih
    · simp [hj, sumOf] at ih ⊢; exact ih

theorem completed_have_nothing_left {jobs : List Job} {i : Nat} : ∀ batch : List Grant,
    i ∈ completed jobs batch → ∃ j ∈ jobs, j.owner = i ∧ j.work = 0 := by
  intro batch
  induction batch with
  | nil => intro h; cases h
  | cons g gs ih =>
    intro h
    unfold completed at h
    split at h
    · rename_i ha
      rcases List.mem_cons.mp h with rfl | h
      · obtain ⟨j, hj, he⟩ := List.any_eq_true.mp ha
        simp only [Bool.and_eq_true, beq_iff_eq] at he
        exact ⟨j, hj, he.1, he.2⟩
      · exact ih h
    · exact ih h

theorem owners_differ {jobs : List Job} (hd : (jobs.map Job.owner).Nodup) {j k : Job} (hj : j ∈ jobs)
    (hk : k ∈ jobs) (he : j.owner = k.owner) : j = k := by
  induction jobs with
  | nil => cases hj
  | cons a l ih =>
    rw [List.map_cons, List.nodup_cons] at hd
    rcases List.mem_cons.mp hj with rfl | hj' <;> rcases List.mem_cons.mp hk with rfl | hk'
    · rfl
    · exact absurd (List.mem_map.mpr ⟨k, hk', he.symm⟩) hd.1
    · exact absurd (List.mem_map.mpr ⟨j, hj', he⟩) hd.1
    · exact ih hd.2 hj' hk'

/-- The end of an iteration takes its tokens off what is left. -/
theorem applyBatch_conserves {batch : List Grant} (h : st.Conserves preset (C + sumOf Grant.tokens batch) batch)
    (hb : (batch.map Grant.owner).Nodup) : (applyBatch batch st).Conserves preset C [] := by
  have hsum := after_batch batch st.jobs hb h.once h.covers
  unfold applyBatch
  simp only
  generalize hjobs : st.jobs.map (Job.after batch) = jobs at hsum ⊢
  have hod : (jobs.map Job.owner).Nodup := by rw [← hjobs, owner_after]; exact h.once
  have hstart : ({ st with jobs := jobs.filter fun j => j.work ≠ 0 } : State).Conserves preset C [] := by
    have hin : ∀ j ∈ jobs.filter (fun j => j.work ≠ 0), ∃ k ∈ st.jobs, Job.after batch k = j := fun j hj => by
      have := (List.mem_filter.mp hj).1
      rw [← hjobs] at this
      exact List.mem_map.mp this
    refine ⟨h.straight, h.queues, ?_, fun j hj => ?_, ?_, fun j hj => ?_, fun g hg => (by cases hg), h.calm⟩
    · have hw := h.whole
      have hwork := work_of_unfinished jobs
      show sumOf Job.work (jobs.filter fun j => j.work ≠ 0) + st.ahead = C
      have hr : st.remaining = sumOf Job.work st.jobs := rfl
      omega
    · obtain ⟨k, hk, rfl⟩ := hin j hj
      exact h.engine k hk
    · exact hod.sublist (List.filter_sublist.map _)
    · obtain ⟨k, hk, rfl⟩ := hin j hj
      exact h.still k hk
  have hfold : ∀ (l : List Nat) (s : State), s.Conserves preset C [] →
      (∀ i ∈ l, ∀ j ∈ s.jobs, j.owner ≠ i) → (l.foldl State.wake s).Conserves preset C [] := by
    intro l
    induction l with
    | nil => exact fun _ h _ => h
    | cons i l ih =>
      intro s hs hl
      exact ih _ (hs.wake i (hl i (by simp))) fun k hk => hl k (by simp [hk])
  refine hfold _ _ hstart fun i hi j hj he => ?_
  obtain ⟨k, hk, hko, hkw⟩ := completed_have_nothing_left _ hi
  obtain ⟨hj', hjw⟩ := List.mem_filter.mp hj
  have := owners_differ hod hj' hk (he.trans hko.symm)
  subst this
  simp [hkw] at hjw

/-! ## Machines -/

namespace Machine

variable {d : Deployment} {w : Workload} {T : Nat}

theorem inFlight_eq (m : Machine) : m.inFlight = sumOf Grant.tokens m.batch := by
  unfold inFlight batch; cases m.running <;> rfl

theorem afterEvent_conserves (ht : w.turnSlot = none) (hn : ∀ c ∈ w.clients, c.turns = []) {m : Machine}
    (h : m.Conserves preset T) : (m.afterEvent d w).Conserves preset T := by
  obtain ⟨C, hs, hb, he⟩ := h
  have hset := settle_conserves (x := m.setting d w) ht hn fuel _ hs
  have hnote : (noteFinished { m with state := settle (m.setting d w) fuel m.state }).state.Conserves preset C
      m.batch := by
    unfold noteFinished
    split
    · exact ⟨hset.straight, hset.queues, hset.whole, hset.engine, hset.once, hset.still, hset.covers, hset.calm⟩
    · exact hset
  have hsame := noteFinished_same { m with state := settle (m.setting d w) fuel m.state }
  unfold afterEvent
  generalize noteFinished { m with state := settle (m.setting d w) fuel m.state } = m' at *
  have hrun : m'.running = m.running := hsame.2.1
  have hserved : m'.served = m.served := hsame.2.2.1
  have hbatch : m'.batch = m.batch := by unfold batch; rw [hrun]
  have hidle : m'.Conserves preset T :=
    ⟨C, hbatch ▸ hnote, hbatch ▸ hb, by rw [hserved, inFlight_eq, hbatch, ← inFlight_eq]; exact he⟩
  unfold tryBegin
  split
  · exact hidle
  · rename_i hnone
    split
    · exact hidle
    · have hempty : m.batch = [] := by unfold batch; rw [← hrun, hnone]
      rw [hempty] at hnote
      have hzero : m.inFlight = 0 := by rw [inFlight_eq, hempty]; rfl
      rw [hzero] at he
      obtain ⟨hst, hnd, hcov⟩ := plan_covers (x := m'.setting d w) (chunk := (m'.setting d w).chunk m'.state)
        hnote fuel { state := m'.state, left := d.budget, todo := m'.state.jobs } (.inl rfl)
        (fun j hj => hj) (by simpa using hnote.once) (by simp)
      simp only at hst hnd hcov ⊢
      have hpl : planned (m'.setting d w) m'.state
          = plan (m'.setting d w) ((m'.setting d w).chunk m'.state) fuel
            { state := m'.state, left := d.budget, todo := m'.state.jobs } := rfl
      rw [← hpl] at hst hnd hcov
      generalize planned (m'.setting d w) m'.state = b at hst hnd hcov ⊢
      have hbs : b.state.Conserves preset C [] := by
        rcases hst with hst | hst <;> rw [hst]
        · exact hnote
        · exact hnote.fail
      have hjobs : b.state.jobs = m'.state.jobs := by rcases hst with hst | hst <;> rw [hst] <;> rfl
      unfold begin
      split
      · refine ⟨C, ?_, ?_, ?_⟩
        · show b.state.Conserves preset C m'.batch
          rw [hbatch, hempty]; exact hbs
        · rw [show Machine.batch { m' with state := b.state } = m'.batch from rfl, hbatch, hempty]; simp
        · show m'.served + C = T + m'.inFlight
          rw [inFlight_eq, hbatch, hempty, hserved]; exact he
      · refine ⟨C, ⟨hbs.straight, hbs.queues, hbs.whole, hbs.engine, hbs.once, hbs.still, ?_, rfl⟩, hnd, ?_⟩
        · intro g hg
          show ∃ j ∈ b.state.jobs, _
          rw [hjobs]; exact hcov g hg
        · show m'.served + sumOf Grant.tokens b.batch + C = T + sumOf Grant.tokens b.batch
          omega

theorem handle_conserves {m m' : Machine} (h : m.Conserves preset T) (hm : m.handle = some m') :
    m'.Conserves preset T := by
  obtain ⟨C, hs, hb, he⟩ := h
  have hd (e : Delay) (more : List Delay) : (m.endDelay e more).Conserves preset T := by
    have hl : ({ m.state with delays := more } : State).Conserves preset C m.batch :=
      ⟨hs.straight, hs.queues, hs.whole, hs.engine, hs.once, hs.still, hs.covers, hs.calm⟩
    refine ⟨C, ?_, hb, he⟩
    show (endDelay e more m).state.Conserves preset C m.batch
    unfold endDelay
    simp only
    split
    · rename_i time number hst
      split
      · exact hl.wake _ (hl.no_resident (by
          show (State.session { m.state with delays := more } e.owner).status ≠ .engine
          rw [hst]; nofun))
      · exact hl
    · exact hl
  have hi (r : Running) (hr : m.running = some r) : (m.endIteration r).Conserves preset T := by
    have hbatch : m.batch = r.batch := by unfold batch; rw [hr]
    rw [hbatch] at hs hb
    rw [inFlight_eq, hbatch] at he
    have hle : sumOf Grant.tokens r.batch ≤ C := by
      have := after_batch r.batch m.state.jobs hb hs.once hs.covers
      have hw := hs.whole
      have hrem : m.state.remaining = sumOf Job.work m.state.jobs := rfl
      omega
    refine ⟨C - sumOf Grant.tokens r.batch, ?_, ?_, ?_⟩
    · show (applyBatch r.batch m.state).Conserves preset _ []
      refine applyBatch_conserves ?_ hb
      rw [Nat.sub_add_cancel hle]; exact hs
    · show (List.map Grant.owner []).Nodup
      simp
    · show m.served + (C - sumOf Grant.tokens r.batch) = T + 0
      omega
  unfold handle at hm
  split at hm
  · cases hm
  · cases hm; exact hi _ ‹_›
  · cases hm; exact hd _ _
  · split at hm
    · cases hm; exact hd _ _
    · cases hm; exact hi _ ‹_›

/-- At the start the work of all sessions is ahead. -/
theorem initial_conserves {program : Code} (hp : program.isStraight preset = true) :
    (initial d w program).Conserves preset (initial d w program).state.ahead := by
  refine ⟨(initial d w program).state.ahead, ⟨fun s hs => ?_, fun q hq => ?_, ?_, ?_, ?_, ?_, ?_, rfl⟩, ?_, ?_⟩
  · obtain ⟨c, _, rfl⟩ := List.mem_map.mp hs
    exact ⟨hp, rfl⟩
  · obtain ⟨c, _, rfl⟩ := List.mem_map.mp hq
    rfl
  · exact Nat.zero_add _
  · intro j hj; cases hj
  · simp [initial]
  · intro j hj; cases hj
  · intro g hg; cases hg
  · show (List.map Grant.owner []).Nodup
    simp
  · show 0 + _ = _ + 0
    omega

/-- **Conservation of work.** In a straight program, tokens served, tokens the residents have left and tokens
that no session has begun yet are, at any time, the work of all sessions; the running iteration's tokens
are counted twice, as served and as left. -/
theorem work_is_conserved {program : Code} {m : Machine} (hp : program.isStraight preset = true)
    (ht : w.turnSlot = none) (hn : ∀ c ∈ w.clients, c.turns = []) (h : Reach d w program m) :
    m.served + m.state.remaining + m.state.ahead = (initial d w program).state.ahead + m.inFlight := by
  have hm : m.Conserves preset (initial d w program).state.ahead :=
    reached_machines_satisfy (P := Conserves preset (initial d w program).state.ahead) (initial_conserves hp)
      (fun _ h => afterEvent_conserves ht hn h) (fun _ _ h he => handle_conserves h he) h
  obtain ⟨C, hs, _, he⟩ := hm
  have hw := hs.whole
  omega

end Machine

end Serq
