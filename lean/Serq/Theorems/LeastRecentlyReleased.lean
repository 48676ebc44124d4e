module

public import Serq.Theorems.ReleaseOrder
public import Serq.Theorems.Accounting
public import Serq.Theorems.ServedRate

/-!
# Eviction takes the least recently released

On every machine that any program reaches, the entries of every pool are positive and in the order of their
release; so what eviction takes, the first, is the least recently released.
-/

public section

namespace Serq

variable {x : Setting} {st : State}

/-! ## Parts -/

theorem EntriesInOrder_setPool {now : Nat} (h : st.EntriesInOrder now) {p : Nat} {q : Pool}
    (hq : InOrder now st.releases q.entries) : (st.setPool p q).EntriesInOrder now := by
  intro r
  rw [pool_setPool]
  split
  · exact hq
  · exact h r

theorem giveBack_in_order (i : Nat) (cache : Option (Expr Var)) (s : Share) (computed : Nat)
    (h : st.EntriesInOrder x.now) : (giveBack x i cache s computed st).EntriesInOrder x.now := by
  suffices hk : ∀ k, (st.giveBack x.now i s.pool s.units k).EntriesInOrder x.now from hk _
  intro k r
  show InOrder x.now (if k = 0 then st.releases else st.releases + 1)
    ((st.setPool s.pool ((st.pool s.pool).giveBack i s.units k x.now st.releases)).pool r).entries
  rw [pool_setPool]
  by_cases hk : k = 0
  · subst hk
    rw [if_pos rfl]
    split
    · exact h s.pool
    · exact h r
  · rw [if_neg hk]
    split
    · show InOrder x.now _ (if k = 0 then _ else keep i k x.now st.releases (st.pool s.pool).entries)
      rw [if_neg hk]
      exact keep_keeps_entries_in_order (Nat.pos_of_ne_zero hk) (h s.pool)
    · exact (h r).later (Nat.le_refl _) (Nat.le_succ _)

theorem release_in_order (i : Nat) (hd : Open) (positional : Bool) (h : st.EntriesInOrder x.now) :
    (release x i hd positional st).EntriesInOrder x.now := by
  unfold release
  generalize hd.shares = l
  induction l generalizing st with
  | nil => exact h
  | cons s l ih => unfold giveBackAll; exact ih (giveBack_in_order _ _ _ _ h)

theorem releaseAll_in_order (i : Nat) : ∀ (fs : List Frame) (st : State), st.EntriesInOrder x.now →
    (releaseAll x i fs st).EntriesInOrder x.now := by
  intro fs
  induction fs with
  | nil => exact fun _ h => h
  | cons f fs ih =>
    intro st h
    cases f with
    | hold hd next =>
      unfold releaseAll
      exact ih _ (release_in_order i hd false
        (st := st.setSession i { st.session i with frames := fs }) h)
    | _ => unfold releaseAll; exact ih (st.setSession i { st.session i with frames := fs }) h

theorem endSession_in_order (i : Nat) (h : st.EntriesInOrder x.now) :
    (endSession x i st).EntriesInOrder x.now :=
  releaseAll_in_order i (st.session i).frames st h

theorem setSlot_in_order {now : Nat} (h : st.EntriesInOrder now) (i : Nat) (slot : Option Nat) (v : Nat) :
    (st.setSlot i slot v).EntriesInOrder now := by
  cases slot with
  | none => exact h
  | some k => exact h

theorem join_in_order (i : Nat) (hd : Header) (front : Bool) (h : st.EntriesInOrder x.now) :
    (join x i hd front st).EntriesInOrder x.now := by
  unfold join
  split
  · exact h
  · split
    · exact h
    · split
      · exact endSession_in_order i h
      · exact EntriesInOrder_setPool (st := st.setSession i _) h (h _)

theorem take_in_order {now releases : Nat} {q : Pool} (cap block i units : Nat)
    (amount : Option (Nat → Nat)) (h : InOrder now releases q.entries) :
    InOrder now releases (q.take cap block i units amount).2.entries := by
  unfold Pool.take Pool.makeRoom
  simp only
  apply evict_keeps_entries_in_order
  cases amount with
  | none => exact h
  | some f => exact consume_keeps_entries_in_order h

theorem takeAll_in_order {now : Nat} (i : Nat) (amount : Nat → Option (Nat → Nat)) :
    ∀ (l : List Demand) (st : State), st.EntriesInOrder now →
      (takeAll x i amount l st).2.EntriesInOrder now := by
  intro l
  induction l with
  | nil => exact fun _ h => h
  | cons m l ih =>
    intro st h
    unfold takeAll
    exact ih _ (EntriesInOrder_setPool h (take_in_order _ _ _ _ _ (h m.pool)))

theorem tryHead_in_order {now p : Nat} {left : Option Nat} {st' : State} (h : st.EntriesInOrder now)
    (he : tryHead x p left st = some st') : st'.EntriesInOrder now := by
  unfold tryHead at he
  split at he
  · cases he
  · split at he
    · simp only at he
      split at he
      · cases he
        exact takeAll_in_order (x := x) _ _ _ _ (EntriesInOrder_setPool h (h p))
      · cases he
    · cases he

/-! ## Statements and growth -/

theorem keptByAdmission_in_order {now : Nat} : KeptByAdmission x (State.EntriesInOrder now) where
  fail _ h := h
  admission _ _ _ _ h he := tryHead_in_order h he

theorem startRun_in_order {now : Nat} (i : Nat) (place : Place) (work : Nat) (next : Code)
    (h : st.EntriesInOrder now) : (startRun x i place work next st).EntriesInOrder now := by
  unfold startRun
  simp only
  split
  · exact h
  · split <;> exact h

theorem takeTurn_in_order {now : Nat} (i : Nat) (h : st.EntriesInOrder now) :
    (takeTurn x i st).EntriesInOrder now := by
  have hc : (countTurn x i st).EntriesInOrder now := by unfold countTurn; split <;> exact h
  unfold takeTurn
  simp only
  split
  · exact hc
  · split
    · exact setSlot_in_order hc _ _ _
    · exact setSlot_in_order (st := State.setSession _ _ _) hc _ _ _

theorem endHold_in_order (i : Nat) (hd : Open) (next : Code) (fs : List Frame)
    (h : st.EntriesInOrder x.now) : (endHold x i hd next fs st).EntriesInOrder x.now := by
  unfold endHold
  apply keptByAdmission_in_order.admitAll
  have hr := setSlot_in_order (release_in_order (x := x) i hd false
    (st := st.setSession i { st.session i with code := next, frames := fs }) h) i x.w.computedSlot 0
  simp only
  split
  · exact hr
  · exact hr

theorem command_in_order (i : Nat) (h : st.EntriesInOrder x.now) :
    (command x i st).1.EntriesInOrder x.now := by
  unfold command
  simp only
  split
  · exact endSession_in_order i h
  · exact h
  · exact h
  · exact takeTurn_in_order (st := State.setSession _ _ _) i h
  · exact h
  · exact h
  · split <;> exact h
  · exact startRun_in_order _ _ _ _ h
  · exact join_in_order _ _ _ h
  · split
    · exact endSession_in_order i h
    · exact h
    · exact h
    · exact h
    · exact endHold_in_order _ _ _ _ h

theorem unwind_in_order (i p : Nat) : ∀ (fs : List Frame) (st : State), st.EntriesInOrder x.now →
    (unwind x i p fs st).EntriesInOrder x.now := by
  intro fs
  induction fs with
  | nil => exact fun _ h => h
  | cons f fs ih =>
    intro st h
    cases f with
    | hold hd next =>
      have hr := release_in_order (x := x) i hd true
        (st := st.setSession i { st.session i with code := .hold hd.header hd.body next, frames := fs }) h
      unfold unwind
      simp only
      split
      · exact hr
      · exact ih _ hr
    | _ => unfold unwind; exact ih (st.setSession i { st.session i with frames := fs }) h

theorem preempt_in_order (v p : Nat) (h : st.EntriesInOrder x.now) :
    (preempt x v p st).EntriesInOrder x.now := by
  unfold preempt
  split
  · exact h
  · have hs := setSlot_in_order h v x.w.computedSlot ‹Share›.position
    unfold rejoin
    simp only
    split
    · exact join_in_order _ _ _ (unwind_in_order (x := x) v p _ { State.setSlot _ _ _ _ with
        jobs := _, preemptions := _, preempted := _ } hs)
    · exact unwind_in_order (x := x) v p _ { State.setSlot _ _ _ _ with
        jobs := _, preemptions := _, preempted := _ } hs

theorem grow_in_order (i p t : Nat) : ∀ (n : Nat) (st : State), st.EntriesInOrder x.now →
    (grow x i p t n st).1.EntriesInOrder x.now := by
  intro n
  induction n with
  | zero => exact fun _ h => h
  | succ n ih =>
    intro st h
    unfold grow
    simp only
    split
    · exact h
    · split
      · exact h
      · split
        · exact EntriesInOrder_setPool (st := st.setSession i _) h (evict_keeps_entries_in_order _ _ (h p))
        · split
          · exact h
          · split
            · exact preempt_in_order _ _ h
            · exact ih _ (preempt_in_order _ _ h)

theorem keptByPlans_in_order : KeptByPlans x (State.EntriesInOrder x.now) where
  toKeptByAdmission := keptByAdmission_in_order
  ready _ _ h := h
  statement i _ h := command_in_order i h
  growth _ _ _ _ _ h := grow_in_order _ _ _ _ _ h

/-! ## Machines -/

namespace Machine

variable {d : Deployment} {w : Workload}

theorem afterEvent_in_order {m : Machine} (h : m.state.EntriesInOrder m.now) :
    (m.afterEvent d w).state.EntriesInOrder (m.afterEvent d w).now := by
  have hs : (settle (m.setting d w) fuel m.state).EntriesInOrder m.now :=
    (keptByPlans_in_order (x := m.setting d w)).toKeptBySessions.settle fuel _ h
  have hn : (noteFinished { m with state := settle (m.setting d w) fuel m.state }).state.EntriesInOrder
      (noteFinished { m with state := settle (m.setting d w) fuel m.state }).now := by
    unfold noteFinished; split <;> exact hs
  unfold afterEvent
  generalize noteFinished { m with state := settle (m.setting d w) fuel m.state } = m' at *
  unfold tryBegin
  split
  · exact hn
  · split
    · exact hn
    · have hp := (keptByPlans_in_order (x := m'.setting d w)).plan ((m'.setting d w).chunk m'.state) fuel
        { state := m'.state, left := d.budget, todo := m'.state.jobs } hn
      unfold begin
      simp only
      split <;> exact hp

theorem handle_in_order {m m' : Machine} (ht : m.Timely) (h : m.state.EntriesInOrder m.now)
    (he : m.handle = some m') : m'.state.EntriesInOrder m'.now := by
  have hn := (handle_timely ht he).2.1
  suffices hs : m'.state.EntriesInOrder m.now from fun p => (hs p).later hn (Nat.le_refl _)
  have hd (e : Delay) (more : List Delay) : (m.endDelay e more).state.EntriesInOrder m.now := by
    unfold endDelay
    simp only
    split
    · split <;> exact h
    · exact h
  have hi (r : Running) : (m.endIteration r).state.EntriesInOrder m.now := by
    show (applyBatch r.batch m.state).EntriesInOrder m.now
    unfold applyBatch
    simp only
    generalize completed _ _ = l
    suffices hw : ∀ (l : List Nat) (s : State), s.EntriesInOrder m.now →
        (l.foldl State.wake s).EntriesInOrder m.now from hw l _ h
    intro l
    induction l with
    | nil => exact fun _ h => h
    | cons i l ih => exact fun s hs => ih _ (show (s.wake i).EntriesInOrder m.now from hs)
  unfold handle at he
  split at he
  · cases he
  · cases he; exact hi _
  · cases he; exact hd _ _
  · split at he
    · cases he; exact hd _ _
    · cases he; exact hi _

theorem initial_in_order {program : Code} : (initial d w program).state.EntriesInOrder 0 := by
  intro p
  have h : ∀ (l : List PoolSpec) (p : Nat), nth ({} : Pool) p (l.map fun _ => ({} : Pool)) = {} := by
    intro l
    induction l with
    | nil => intro p; cases p <;> rfl
    | cons a l ih => intro p; cases p with
      | zero => rfl
      | succ p => exact ih p
  show InOrder 0 0 (nth ({} : Pool) p (d.pools.map fun _ => {})).entries
  rw [h]
  exact ⟨trivial, by simp⟩

/-- **On every reached machine the entries of every pool are positive and in the order of their
release.** -/
theorem entries_are_in_release_order {program : Code} {m : Machine} (h : Reach d w program m) :
    m.state.EntriesInOrder m.now :=
  (reached_machines_satisfy (P := fun m => m.Timely ∧ m.state.EntriesInOrder m.now)
    ⟨initial_timely program, initial_in_order⟩
    (fun _ h => ⟨afterEvent_timely h.1, afterEvent_in_order h.2⟩)
    (fun _ _ h he => ⟨(handle_timely h.1 he).1, handle_in_order h.1 h.2 he⟩) h).2

/-- **Eviction takes the least recently released entry**, on every machine any program reaches. -/
theorem eviction_takes_the_least_recently_released {program : Code} {m : Machine}
    (h : Reach d w program m) {p : Nat} {e : Entry} {es : List Entry}
    (he : (m.state.pool p).entries = e :: es) : ∀ y ∈ e :: es, e.NoLater y :=
  evicted_entry_is_least (he ▸ (entries_are_in_release_order h p).ordered)

end Machine

end Serq
