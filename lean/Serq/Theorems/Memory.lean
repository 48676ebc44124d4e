module

public import Serq.Theorems.HoldAccounting
public import Serq.Theorems.ServedRate

/-!
# The memory invariant

On every machine that a covered program reaches, a pool has allocated exactly what the open holds have of
it, and what is allocated and what is cached fit in its capacity together.
-/

public section

namespace Serq

variable {x : Setting} {K : Nat → Prop} {extra : Nat → Nat} {st : State}

/-! ## Statements -/

theorem keptByAdmission_accounted : KeptByAdmission x (State.Accounted x.d K extra) where
  fail _ h := ⟨h.good, h.allocated, h.fits, h.pools⟩
  admission _ _ _ _ h he := tryHead_accounted h he

theorem takeTurn_accounted (i : Nat) (ha : st.Accounted x.d K extra) :
    (takeTurn x i st).Accounted x.d K extra := by
  have h₁ : ∀ st' : State, st'.Accounted x.d K extra → ∀ slot v,
      (st'.setAttr i slot v).Accounted x.d K extra :=
    fun st' h slot v => h.setSession ⟨(h.session i).code, (h.session i).frames⟩ fun _ => rfl
  have h₂ : ∀ st' : State, st'.Accounted x.d K extra → ∀ values n,
      (st'.setSession i { st'.session i with attrs := values, turn := n }).Accounted x.d K extra :=
    fun st' h _ _ => h.setSession ⟨(h.session i).code, (h.session i).frames⟩ fun _ => rfl
  have hb : (countTurn x i st).Accounted x.d K extra := by
    unfold countTurn
    split
    · exact ha
    · exact h₁ _ ha _ _
  unfold takeTurn
  simp only
  split
  · exact hb
  · split
    · exact setSlot_accounted hb _ _ _
    · exact setSlot_accounted (h₂ _ hb _ _) _ _ _

theorem startRun_accounted (i : Nat) (place : Place) (work : Nat) (next : Code) (hn : next.Covers x.d K)
    (ha : st.Accounted x.d K extra) : (startRun x i place work next st).Accounted x.d K extra := by
  have hs (status : Status) : (st.setSession i { { st.session i with code := next } with status }).Accounted
      x.d K extra := ha.setSession ⟨hn, (ha.session i).frames⟩ fun _ => rfl
  have h₀ : (st.setSession i { st.session i with code := next }).Accounted x.d K extra :=
    ha.setSession ⟨hn, (ha.session i).frames⟩ fun _ => rfl
  unfold startRun
  simp only
  split
  · exact ⟨h₀.good, h₀.allocated, h₀.fits, h₀.pools⟩
  · split
    · have h := hs (.delay (x.now + work) st.events)
      exact ⟨h.good, h.allocated, h.fits, h.pools⟩
    · have h := hs .engine
      exact ⟨h.good, h.allocated, h.fits, h.pools⟩
    · have h := hs .engine
      exact ⟨h.good, h.allocated, h.fits, h.pools⟩

theorem endHold_accounted {i : Nat} {h : Open} {next : Code} {fs : List Frame}
    (hf : (st.session i).frames = .hold h next :: fs) (ha : st.Accounted x.d K extra) :
    (endHold x i h next fs st).Accounted x.d K extra := by
  have hg := (ha.session i).frames
  rw [hf] at hg
  have hh := hg (.hold h next) (by simp)
  unfold endHold
  apply keptByAdmission_accounted.admitAll
  have hp := pop_accounted (s := { st.session i with code := next, frames := fs }) ha hf
    ⟨hh.2.2.1, goodFrames_tail hg⟩ rfl
  have hr := setSlot_accounted (release_accounted (i := i) (positional := false) hh.2.2.2 hp) i
    x.w.computedSlot 0
  simp only
  split
  · exact ⟨hr.good, hr.allocated, hr.fits, hr.pools⟩
  · exact hr

theorem command_accounted (i : Nat) (ha : st.Accounted x.d K extra) :
    (command x i st).1.Accounted x.d K extra := by
  have hg := ha.session i
  have hc := hg.code
  unfold command
  simp only
  split
  · exact endSession_accounted i ha
  · rename_i h; rw [h] at hc
    exact ha.setSession ⟨hc, hg.frames⟩ fun _ => rfl
  · rename_i name value next h; rw [h] at hc
    have := ha.setSession (i := i) (s := { st.session i with code := next }) ⟨hc, hg.frames⟩ fun _ => rfl
    exact ⟨this.good, this.allocated, this.fits, this.pools⟩
  · rename_i h; rw [h] at hc
    exact takeTurn_accounted i (ha.setSession ⟨hc, hg.frames⟩ fun _ => rfl)
  · rename_i h; rw [h] at hc
    refine ha.setSession ⟨?_, fun f hf => ?_⟩ fun _ => rfl
    · show Code.Covers _ _ (if _ then _ else _)
      split
      · exact hc.2.1
      · exact hc.1
    · rcases List.mem_cons.mp hf with rfl | hf
      · exact hc.2.2
      · exact hg.frames f hf
  · rename_i body h; rw [h] at hc
    refine ha.setSession ⟨hc, fun f hf => ?_⟩ fun _ => rfl
    rcases List.mem_cons.mp hf with rfl | hf
    · exact hc
    · exact hg.frames f hf
  · rename_i h; rw [h] at hc
    split
    · exact ha.setSession ⟨hc.2, hg.frames⟩ fun _ => rfl
    · refine ha.setSession ⟨hc.1, fun f hf => ?_⟩ fun _ => rfl
      rcases List.mem_cons.mp hf with rfl | hf
      · exact hc
      · exact hg.frames f hf
  · rename_i h; rw [h] at hc
    exact startRun_accounted i _ _ _ hc ha
  · exact join_accounted i _ _ ha
  · have hgf := hg.frames
    split
    · exact endSession_accounted i ha
    · rename_i next fs hf
      rw [hf] at hgf
      exact ha.setSession ⟨hgf (.rest next) (by simp), goodFrames_tail hgf⟩ fun _ => by rw [hf]; rfl
    · rename_i body fs hf
      rw [hf] at hgf
      exact ha.setSession ⟨hgf (.loop body) (by simp), hg.frames⟩ fun _ => rfl
    · rename_i test body next fs hf
      rw [hf] at hgf
      exact ha.setSession ⟨hgf (.again test body next) (by simp), goodFrames_tail hgf⟩
        fun _ => by rw [hf]; rfl
    · rename_i hf
      exact endHold_accounted hf ha

theorem keptBySessions_accounted : KeptBySessions x (State.Accounted x.d K extra) where
  toKeptByAdmission := keptByAdmission_accounted
  ready _ _ h := ⟨h.good, h.allocated, h.fits, h.pools⟩
  statement i _ h := command_accounted i h

/-! ## Growth -/

theorem sharesIn_reshare {p units position : Nat} {s : Share} : ∀ {l : List Share}, shareIn p l = some s →
    (∀ q, q ≠ p → sharesIn q (reshare p units position l) = sharesIn q l) ∧
      sharesIn p (reshare p units position l) + s.units = sharesIn p l + units := by
  intro l
  induction l with
  | nil => intro h; cases h
  | cons t l ih =>
    intro h
    unfold shareIn at h
    unfold reshare
    split at h
    · rename_i ht
      cases h
      rw [if_pos ht]
      refine ⟨fun q hq => ?_, ?_⟩
      · have : s.pool ≠ q := fun h => hq (h ▸ ht)
        simp [sharesIn, sumOf, this]
      · simp [sharesIn, sumOf, ht]; omega
    · rename_i ht
      rw [if_neg ht]
      obtain ⟨h₁, h₂⟩ := ih h
      refine ⟨fun q hq => ?_, ?_⟩
      · have := h₁ q hq
        simp only [sharesIn, sumOf] at this ⊢; omega
      · simp only [sharesIn, sumOf] at h₂ ⊢; omega

theorem heldIn_advance {p units position : Nat} {s : Share} : ∀ {fs : List Frame}, innermost p fs = some s →
    (∀ q, q ≠ p → heldIn q (advance p units position fs) = heldIn q fs) ∧
      heldIn p (advance p units position fs) + s.units = heldIn p fs + units := by
  intro fs
  induction fs with
  | nil => intro h; cases h
  | cons f fs ih =>
    intro h
    cases f with
    | hold o next =>
      unfold innermost at h
      unfold advance
      cases hs : shareIn p o.shares with
      | some t =>
        simp only [hs, Option.some.injEq] at h ⊢
        subst h
        obtain ⟨h₁, h₂⟩ := sharesIn_reshare (units := units) (position := position) hs
        refine ⟨fun q hq => ?_, ?_⟩
        · simp only [heldIn_hold, h₁ q hq]
        · simp only [heldIn_hold]; omega
      | none =>
        simp only [hs] at h ⊢
        obtain ⟨h₁, h₂⟩ := ih h
        refine ⟨fun q hq => ?_, ?_⟩
        · simp only [heldIn_hold, h₁ q hq]
        · simp only [heldIn_hold]; omega
    | rest c => exact ih h
    | loop c => exact ih h
    | again t b c => exact ih h

theorem good_reshare {p units position : Nat} (hp : position ≤ units) : ∀ {l : List Share},
    (∀ s ∈ l, K s.pool → s.position ≤ s.units) →
      ∀ s ∈ reshare p units position l, K s.pool → s.position ≤ s.units := by
  intro l
  induction l with
  | nil => intro _ s hs; cases hs
  | cons t l ih =>
    intro h s hs
    unfold reshare at hs
    split at hs
    · rcases List.mem_cons.mp hs with rfl | hs
      · exact fun _ => hp
      · exact h s (by simp [hs])
    · rcases List.mem_cons.mp hs with rfl | hs
      · exact h _ (by simp)
      · exact ih (fun t ht => h t (by simp [ht])) s hs

theorem good_advance {d : Deployment} {p units position : Nat} (hp : position ≤ units) :
    ∀ {fs : List Frame}, (∀ f ∈ fs, f.Good d K) → ∀ f ∈ advance p units position fs, f.Good d K := by
  intro fs
  induction fs with
  | nil => intro _ f hf; cases hf
  | cons g fs ih =>
    intro h f hf
    have ht := ih (goodFrames_tail h)
    have hg := h g (by simp)
    cases g with
    | hold o next =>
      unfold advance at hf
      split at hf
      · rcases List.mem_cons.mp hf with rfl | hf
        · exact ⟨hg.1, hg.2.1, hg.2.2.1, good_reshare hp hg.2.2.2⟩
        · exact h f (by simp [hf])
      · rcases List.mem_cons.mp hf with rfl | hf
        · exact hg
        · exact ht f hf
    | rest c =>
      rcases List.mem_cons.mp hf with rfl | hf
      · exact hg
      · exact ht f hf
    | loop c =>
      rcases List.mem_cons.mp hf with rfl | hf
      · exact hg
      · exact ht f hf
    | again t b c =>
      rcases List.mem_cons.mp hf with rfl | hf
      · exact hg
      · exact ht f hf

theorem unwind_accounted (i p : Nat) : ∀ (fs : List Frame) (st : State), (st.session i).frames = fs →
    st.Accounted x.d K extra → (unwind x i p fs st).Accounted x.d K extra := by
  intro fs
  induction fs with
  | nil => exact fun _ _ h => ⟨h.good, h.allocated, h.fits, h.pools⟩
  | cons f fs ih =>
    intro st hf ha
    have hg := ha.session i
    have hi := in_range hf
    have hgf := hg.frames
    rw [hf] at hgf
    have hgs : ({ st.session i with frames := fs } : Session).Good x.d K := ⟨hg.code, goodFrames_tail hgf⟩
    cases f with
    | hold h next =>
      have hh := hgf (.hold h next) (by simp)
      have hr := release_accounted (i := i) (positional := true) hh.2.2.2
        (pop_accounted (s := { st.session i with code := .hold h.header h.body next, frames := fs }) ha hf
          ⟨⟨hh.1, hh.2.1, hh.2.2.1⟩, goodFrames_tail hgf⟩ rfl)
      unfold unwind
      simp only
      split
      · exact hr
      · exact ih _ (by rw [release_session, session_set_self hi]) hr
    | rest c =>
      unfold unwind
      exact ih _ (by rw [session_set_self hi]) (ha.setSession hgs fun p => by rw [hf]; rfl)
    | loop c =>
      unfold unwind
      exact ih _ (by rw [session_set_self hi]) (ha.setSession hgs fun p => by rw [hf]; rfl)
    | again t b c =>
      unfold unwind
      exact ih _ (by rw [session_set_self hi]) (ha.setSession hgs fun p => by rw [hf]; rfl)

theorem preempt_accounted (v p : Nat) (ha : st.Accounted x.d K extra) :
    (preempt x v p st).Accounted x.d K extra := by
  unfold preempt
  split
  · exact ⟨ha.good, ha.allocated, ha.fits, ha.pools⟩
  · have hs := setSlot_accounted ha v x.w.computedSlot ‹Share›.position
    unfold rejoin
    simp only
    have hu := unwind_accounted (x := x) (extra := extra) v p _
      { st.setSlot v x.w.computedSlot ‹Share›.position with
        jobs := jobsBut v (st.setSlot v x.w.computedSlot ‹Share›.position).jobs
        preemptions := (st.setSlot v x.w.computedSlot ‹Share›.position).preemptions + 1
        preempted := (st.setSlot v x.w.computedSlot ‹Share›.position).preempted ++ [v] }
      rfl ⟨hs.good, hs.allocated, hs.fits, hs.pools⟩
    split
    · exact join_accounted _ _ _ hu
    · exact ⟨hu.good, hu.allocated, hu.fits, hu.pools⟩

theorem grow_accounted (i p t : Nat) : ∀ (n : Nat) (st : State), st.Accounted x.d K extra →
    (grow x i p t n st).1.Accounted x.d K extra := by
  intro n
  induction n with
  | zero => exact fun _ h => ⟨h.good, h.allocated, h.fits, h.pools⟩
  | succ n ih =>
    intro st ha
    have hg := ha.session i
    unfold grow
    simp only
    split
    · exact ⟨ha.good, ha.allocated, ha.fits, ha.pools⟩
    · rename_i share hin
      have hi : i < st.sessions.length := by
        refine Nat.lt_of_not_le fun hi => ?_
        rw [session_beyond hi] at hin
        cases hin
      split
      · rename_i hle
        obtain ⟨h₁, h₂⟩ := heldIn_advance (units := share.units) (position := share.position + t) hin
        refine ha.setSession ⟨hg.code, good_advance hle hg.frames⟩ fun q => ?_
        by_cases hq : q = p
        · subst hq; show heldIn q (advance q _ _ _) = _; omega
        · exact h₁ q hq
      · rename_i hgt
        split
        · rename_i hfit
          have hup := le_roundUp (block_pos x.d p) (share.position + t)
          obtain ⟨h₁, h₂⟩ := heldIn_advance
            (units := share.units + (roundUp (x.d.block p) (share.position + t) - share.units))
            (position := share.position + t) hin
          have hroom := makeRoom_fits (q := st.pool p) (block_pos x.d p) hfit
          have hcov : share.position + t
              ≤ share.units + (roundUp (x.d.block p) (share.position + t) - share.units) := by omega
          generalize roundUp (x.d.block p) (share.position + t) - share.units = need at *
          have hal := ha.allocated p
          have hp := ha.setPool (p := p) (extra' := fun q => if q = p then extra q + need else extra q)
            (q := { (st.pool p).makeRoom (x.d.pool p).cap (x.d.block p) need with
              allocated := (st.pool p).allocated + need })
            (fun r hr => by simp [hr])
            (by simp only [if_true]; omega)
            (fun _ => by
              show (st.pool p).allocated + need + ((st.pool p).makeRoom _ _ _).cached ≤ _
              omega)
            (fun hb => by
              have hc : (x.d.pool p).cap = 0 := by
                unfold Deployment.pool; rw [nth_beyond _ _ _ (ha.pools ▸ hb)]
              simp only [if_true]; omega)
          exact hp.setFrames (i := i) (extra' := extra)
            (s := { st.session i with
              frames := advance p (share.units + need) (share.position + t) (st.session i).frames })
            ⟨hg.code, good_advance hcov hg.frames⟩ hi fun q => by
              show heldIn q (advance p _ _ _) + extra q = heldIn q (st.session i).frames + _
              by_cases hq : q = p
              · subst hq; simp only [if_true]; omega
              · simp only [if_neg hq, h₁ q hq]
        · split
          · exact ⟨ha.good, ha.allocated, ha.fits, ha.pools⟩
          · split
            · exact preempt_accounted _ _ ha
            · exact ih _ (preempt_accounted _ _ ha)

theorem keptByPlans_accounted : KeptByPlans x (State.Accounted x.d K extra) where
  toKeptBySessions := keptBySessions_accounted
  growth _ _ _ _ _ h := grow_accounted _ _ _ _ _ h

/-! ## Machines -/

namespace Machine

variable {d : Deployment} {w : Workload}

theorem noteFinished_accounted {m : Machine} (h : m.state.Accounted d K extra) :
    m.noteFinished.state.Accounted d K extra := by
  unfold noteFinished
  split
  · exact ⟨h.good, h.allocated, h.fits, h.pools⟩
  · exact h

theorem afterEvent_accounted {m : Machine} (h : m.state.Accounted d K extra) :
    (m.afterEvent d w).state.Accounted d K extra := by
  have hs := (keptBySessions_accounted (x := m.setting d w) (extra := extra)).settle fuel _ h
  have hn := noteFinished_accounted (m := { m with state := settle (m.setting d w) fuel m.state }) hs
  unfold afterEvent
  generalize noteFinished { m with state := settle (m.setting d w) fuel m.state } = m' at *
  unfold tryBegin
  split
  · exact hn
  · split
    · exact hn
    · have hp := (keptByPlans_accounted (x := m'.setting d w) (extra := extra)).plan
        ((m'.setting d w).chunk m'.state) fuel
        { state := m'.state, left := d.budget, todo := m'.state.jobs } hn
      unfold begin
      simp only
      split
      · exact hp
      · exact ⟨hp.good, hp.allocated, hp.fits, hp.pools⟩

theorem wake_accounted {st : State} (i : Nat) (h : st.Accounted d K extra) :
    (st.wake i).Accounted d K extra := by
  have hs := h.setSession (i := i) (s := { st.session i with status := .ready })
    ⟨(h.session i).code, (h.session i).frames⟩ fun _ => rfl
  exact ⟨hs.good, hs.allocated, hs.fits, hs.pools⟩

theorem handle_accounted {m m' : Machine} (h : m.state.Accounted d K extra) (he : m.handle = some m') :
    m'.state.Accounted d K extra := by
  have hd (e : Delay) (more : List Delay) : (m.endDelay e more).state.Accounted d K extra := by
    have h' : ({ m.state with delays := more } : State).Accounted d K extra :=
      ⟨h.good, h.allocated, h.fits, h.pools⟩
    unfold endDelay
    simp only
    split
    · split
      · exact wake_accounted _ h'
      · exact h'
    · exact h'
  have hi (r : Running) : (m.endIteration r).state.Accounted d K extra := by
    show (applyBatch r.batch m.state).Accounted d K extra
    unfold applyBatch
    simp only
    generalize completed _ _ = l
    have hj : ∀ jobs, ({ m.state with jobs } : State).Accounted d K extra :=
      fun _ => ⟨h.good, h.allocated, h.fits, h.pools⟩
    revert hj
    generalize (m.state.jobs.map (Job.after r.batch)).filter _ = jobs
    intro hj
    have := hj jobs
    revert this
    generalize ({ m.state with jobs } : State) = st
    induction l generalizing st with
    | nil => exact id
    | cons i l ih => exact fun h => ih _ (wake_accounted i h)
  unfold handle at he
  split at he
  · cases he
  · cases he; exact hi _
  · cases he; exact hd _ _
  · split at he
    · cases he; exact hd _ _
    · cases he; exact hi _

theorem initial_accounted {program : Code} (hc : program.Covers d K) :
    (initial d w program).state.Accounted d K fun _ => 0 where
  good s hs := by
    obtain ⟨c, _, rfl⟩ := List.mem_map.mp hs
    exact ⟨hc, by simp⟩
  allocated p := by
    have h₁ : ∀ (l : List PoolSpec) (p : Nat),
        (nth ({} : Pool) p (l.map fun _ => ({} : Pool))).allocated = 0 := by
      intro l
      induction l with
      | nil => intro p; cases p <;> rfl
      | cons a l ih => intro p; cases p with
        | zero => rfl
        | succ p => exact ih p
    have h₂ : ∀ l : List Client, sumOf (fun s : Session => heldIn p s.frames)
        (l.map fun c => { attrs := assignAll c.presets [], code := program, status := .ready }) = 0 := by
      intro l
      induction l with
      | nil => rfl
      | cons a l ih => simp [sumOf, heldIn, ih]
    exact (h₁ d.pools p).trans (h₂ w.clients).symm
  fits p _ := by
    have h₁ : ∀ (l : List PoolSpec) (p : Nat), nth ({} : Pool) p (l.map fun _ => ({} : Pool)) = {} := by
      intro l
      induction l with
      | nil => intro p; cases p <;> rfl
      | cons a l ih => intro p; cases p with
        | zero => rfl
        | succ p => exact ih p
    show (nth ({} : Pool) p (d.pools.map fun _ => {})).allocated
      + (nth ({} : Pool) p (d.pools.map fun _ => {})).cached ≤ _
    rw [h₁]; exact Nat.zero_le _
  pools := by simp [initial]

theorem reached_machines_are_accounted {program : Code} (hc : program.Covers d K) {m : Machine}
    (h : Reach d w program m) : m.state.Accounted d K fun _ => 0 :=
  reached_machines_satisfy (P := fun m => m.state.Accounted d K fun _ => 0) (initial_accounted hc)
    (fun _ h => afterEvent_accounted h) (fun _ _ h he => handle_accounted h he) h

/-- Every program covers what it consumes of no pool. -/
theorem covers_nothing (d : Deployment) (program : Code) : program.Covers d fun _ => False := by
  induction program with
  | done => trivial
  | finish => trivial
  | set _ _ _ ih => exact ih
  | observe _ _ _ ih => exact ih
  | turn _ ih => exact ih
  | branch _ _ _ _ h₁ h₂ h₃ => exact ⟨h₁, h₂, h₃⟩
  | loop _ ih => exact ih
  | «while» _ _ _ h₁ h₂ => exact ⟨h₁, h₂⟩
  | run _ _ _ ih => exact ih
  | hold _ _ _ h₁ h₂ => exact ⟨fun _ _ _ h => h.elim, h₁, h₂⟩

/-- **What a pool has allocated is what the open holds have of it**, on every machine any
program reaches. -/
theorem allocated_is_what_open_holds_have {program : Code} {m : Machine} (h : Reach d w program m) (p : Nat) :
    (m.state.pool p).allocated = m.state.held p :=
  (reached_machines_are_accounted (covers_nothing d program) h).allocated p

/-- **The memory invariant.** If every hold of a program covers what it consumes of a pool, then on every
reached machine what the pool has allocated and what it has cached fit in its capacity together. -/
theorem allocated_and_cached_stay_within_capacity {program : Code} {p : Nat}
    (hc : program.Covers d fun q => q = p) {m : Machine} (h : Reach d w program m) :
    (m.state.pool p).allocated + (m.state.pool p).cached ≤ (d.pool p).cap :=
  (reached_machines_are_accounted hc h).fits p rfl

end Machine

end Serq
