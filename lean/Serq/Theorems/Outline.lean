module

public import Serq.Theorems.Traversal

/-!
# What an instant changes

Whatever happens within an instant, the jobs, the pending delays, the preemptions and the fault of a state
change in four ways only: a delay that ends no earlier than now is inserted, a job is inserted, a session is
preempted and its job leaves, the state becomes faulty. Outside a plan nobody is preempted.
-/

@[expose] public section

namespace Serq

/-- The part of a state that few things change. -/
structure Outline where
  jobs : List Job
  delays : List Delay
  preempted : List Nat
  fault : Bool

/-- The outline of a state. -/
def State.outline (st : State) : Outline where
  jobs := st.jobs
  delays := st.delays
  preempted := st.preempted
  fault := st.fault

/-- How an outline changes within an instant; `plan` says whether sessions may be preempted. -/
inductive Evolves (now : Nat) (plan : Bool) : Outline → Outline → Prop
  | refl (o : Outline) : Evolves now plan o o
  | delay {o o' : Outline} (d : Delay) : now ≤ d.time → Evolves now plan o o' →
      Evolves now plan o { o' with delays := insertDelay d o'.delays }
  | job {o o' : Outline} (before after : List Job) (j : Job) : o'.jobs = before ++ after →
      Evolves now plan o o' → Evolves now plan o { o' with jobs := before ++ j :: after }
  | preempt {o o' : Outline} (v : Nat) : plan = true → Evolves now plan o o' →
      Evolves now plan o { o' with jobs := jobsBut v o'.jobs, preempted := o'.preempted ++ [v] }
  | fail {o o' : Outline} : Evolves now plan o o' → Evolves now plan o { o' with fault := true }

namespace Evolves

variable {now : Nat} {plan : Bool} {o o' o'' : Outline}

theorem trans (h : Evolves now plan o o') (k : Evolves now plan o' o'') : Evolves now plan o o'' := by
  induction k with
  | refl => exact h
  | delay d hd _ ih => exact .delay d hd ih
  | job b a j e _ ih => exact .job b a j e ih
  | preempt v hp _ ih => exact .preempt v hp ih
  | fail _ ih => exact .fail ih

theorem weaken (h : Evolves now false o o') : Evolves now plan o o' := by
  induction h with
  | refl => exact .refl _
  | delay d hd _ ih => exact .delay d hd ih
  | job b a j e _ ih => exact .job b a j e ih
  | preempt v hp _ _ => cases hp
  | fail _ ih => exact .fail ih

/-- A fault stays. -/
theorem fault_stays (h : Evolves now plan o o') (hf : o.fault = true) : o'.fault = true := by
  induction h with
  | refl => exact hf
  | fail => rfl
  | _ => assumption

/-- Outside a plan nobody is preempted. -/
theorem nobody_preempted (h : Evolves now false o o') : o'.preempted = o.preempted := by
  induction h with
  | refl => rfl
  | preempt v hp => cases hp
  | _ => assumption

/-- Preemptions stay on record. -/
theorem preempted_stays (h : Evolves now plan o o') (he : o'.preempted = []) : o.preempted = [] := by
  induction h with
  | refl => exact he
  | preempt v hp _ ih => simp at he
  | delay _ _ _ ih => exact ih he
  | job _ _ _ _ _ ih => exact ih he
  | fail _ ih => exact ih he

/-- While nobody is preempted, jobs are added only. -/
theorem jobs_are_added (h : Evolves now plan o o') (he : o'.preempted = []) :
    ∃ more, o'.jobs.Perm (o.jobs ++ more) := by
  induction h with
  | refl => exact ⟨[], by simp⟩
  | delay _ _ _ ih => exact ih he
  | fail _ ih => exact ih he
  | preempt v _ _ _ => simp at he
  | job b a j e _ ih =>
    obtain ⟨more, hm⟩ := ih he
    refine ⟨more ++ [j], ?_⟩
    have h₁ : (b ++ j :: a).Perm (j :: (b ++ a)) := List.perm_middle
    refine h₁.trans ?_
    rw [← e, ← List.append_assoc]
    exact (List.Perm.cons j hm).trans (List.perm_append_comm (l₁ := [j]))

end Evolves

/-! ## Statements -/

variable {x : Setting} {plan : Bool}

theorem outline_setSlot (st : State) (i v : Nat) (slot : Option Nat) :
    (st.setSlot i slot v).outline = st.outline := by
  cases slot <;> rfl

theorem outline_giveBack (i : Nat) (cache : Option (Expr Var)) (s : Share) (c : Nat) (st : State) :
    (giveBack x i cache s c st).outline = st.outline := rfl

theorem outline_giveBackAll (i : Nat) (cache : Option (Expr Var)) (positional : Bool) :
    ∀ (l : List Share) (st : State), (giveBackAll x i cache positional l st).outline = st.outline := by
  intro l
  induction l with
  | nil => exact fun _ => rfl
  | cons s l ih => intro st; unfold giveBackAll; rw [ih, outline_giveBack]

theorem outline_release (i : Nat) (h : Open) (positional : Bool) (st : State) :
    (release x i h positional st).outline = st.outline := outline_giveBackAll _ _ _ _ _

theorem outline_releaseAll (i : Nat) : ∀ (fs : List Frame) (st : State),
    (releaseAll x i fs st).outline = st.outline := by
  intro fs
  induction fs with
  | nil => exact fun _ => rfl
  | cons f fs ih =>
    intro st
    cases f <;> (unfold releaseAll; rw [ih]) <;> first | rfl | rw [outline_release]; rfl

theorem outline_endSession (i : Nat) (st : State) : (endSession x i st).outline = st.outline :=
  outline_releaseAll i (st.session i).frames st

theorem evolves_join {now : Nat} (i : Nat) (h : Header) (front : Bool) (st : State) :
    Evolves now plan st.outline (join x i h front st).outline := by
  unfold join
  split
  · exact .fail (.refl _)
  · split
    · exact .fail (.refl _)
    · split
      · rw [outline_endSession]; exact .refl _
      · exact .refl _

theorem outline_takeAll (i : Nat) (amount : Nat → Option (Nat → Nat)) : ∀ (l : List Demand) (st : State),
    (takeAll x i amount l st).2.outline = st.outline := by
  intro l
  induction l with
  | nil => exact fun _ => rfl
  | cons d l ih => intro st; unfold takeAll; simp only; rw [ih]; rfl

theorem outline_admit (i : Nat) (h : Header) (body next : Code) (e : Env) (st : State) :
    (enter x i h body next e st).outline = st.outline :=
  outline_takeAll (x := x) i _ _ st

theorem outline_tryHead {p : Nat} {left : Option Nat} {st st' : State} (h : tryHead x p left st = some st') :
    st'.outline = st.outline := by
  unfold tryHead at h
  split at h
  · cases h
  · split at h
    · simp only at h
      split at h
      · cases h; rw [outline_admit]; rfl
      · cases h
    · cases h

theorem insertJob_inserts (st : State) (a : Option Nat) (j : Job) : ∀ jobs : List Job,
    ∃ before after, jobs = before ++ after ∧ insertJob st a j jobs = before ++ j :: after := by
  intro jobs
  induction jobs with
  | nil => exact ⟨[], [], rfl, rfl⟩
  | cons k ks ih =>
    obtain ⟨b, c, e₁, e₂⟩ := ih
    unfold insertJob
    split
    · exact ⟨k :: b, c, by simp [e₁], by simp [e₂]⟩
    · exact ⟨[], k :: ks, rfl, rfl⟩

theorem evolves_startRun (i : Nat) (place : Place) (work : Nat) (next : Code) (st : State) :
    Evolves x.now plan st.outline (startRun x i place work next st).outline := by
  unfold startRun
  simp only
  split
  · exact .refl _
  · cases place with
    | delay => exact .delay _ (Nat.le_add_right _ _) (.refl st.outline)
    | prefill grows =>
      obtain ⟨b, c, e₁, e₂⟩ := insertJob_inserts st (st.session i).admission
        { owner := i, decode := false, work, grows } st.jobs
      simp only [e₂]
      exact .job (o' := st.outline) b c _ e₁ (.refl st.outline)
    | decode grows =>
      obtain ⟨b, c, e₁, e₂⟩ := insertJob_inserts st (st.session i).admission
        { owner := i, decode := true, work, grows } st.jobs
      simp only [e₂]
      exact .job (o' := st.outline) b c _ e₁ (.refl st.outline)

theorem outline_takeTurn (i : Nat) (st : State) : (takeTurn x i st).outline = st.outline := by
  have hc : (countTurn x i st).outline = st.outline := by unfold countTurn; split <;> rfl
  unfold takeTurn
  simp only
  split
  · exact hc
  · split
    · rw [outline_setSlot]; exact hc
    · rw [outline_setSlot]; exact hc

theorem keptByAdmission_evolves {now : Nat} (o : Outline) :
    KeptByAdmission x fun st => Evolves now plan o st.outline where
  fail _ h := .fail h
  admission p left st st' h he := by rw [outline_tryHead he]; exact h

theorem evolves_endHold (i : Nat) (h : Open) (next : Code) (fs : List Frame) (st : State) :
    Evolves x.now plan st.outline (endHold x i h next fs st).outline := by
  unfold endHold
  apply (keptByAdmission_evolves st.outline).admitAll
  simp only
  split
  · show Evolves _ _ _ (State.outline (State.setSlot _ _ _ _))
    rw [outline_setSlot, outline_release]; exact .refl _
  · rw [outline_setSlot, outline_release]; exact .refl _

theorem evolves_command (i : Nat) (st : State) :
    Evolves x.now plan st.outline (command x i st).1.outline := by
  unfold command
  simp only
  split
  · rw [outline_endSession]; exact .refl _
  · exact .refl _
  · exact .refl _
  · rw [outline_takeTurn]; exact .refl _
  · exact .refl _
  · exact .refl _
  · split <;> exact .refl _
  · exact evolves_startRun _ _ _ _ _
  · exact evolves_join _ _ _ _
  · split
    · rw [outline_endSession]; exact .refl _
    · exact .refl _
    · exact .refl _
    · exact .refl _
    · exact evolves_endHold _ _ _ _ _

/-- **Sessions change an outline by delays, jobs and faults only.** -/
theorem keptBySessions_evolves (o : Outline) :
    KeptBySessions x fun st => Evolves x.now plan o st.outline where
  toKeptByAdmission := keptByAdmission_evolves o
  ready _ _ h := h
  statement i st h := h.trans (evolves_command i st)

/-! ## Growth -/

theorem evolves_unwind {now : Nat} (i p : Nat) : ∀ (fs : List Frame) (st : State),
    Evolves now plan st.outline (unwind x i p fs st).outline := by
  intro fs
  induction fs with
  | nil => exact fun st => .fail (.refl _)
  | cons f fs ih =>
    intro st
    cases f with
    | hold h next =>
      unfold unwind
      simp only
      split
      · rw [outline_release]; exact .refl _
      · refine .trans ?_ (ih _)
        rw [outline_release]; exact .refl _
    | _ => unfold unwind; exact ih (st.setSession i { st.session i with frames := fs })

theorem evolves_rejoin {now : Nat} (i : Nat) (st : State) :
    Evolves now plan st.outline (rejoin x i st).outline := by
  unfold rejoin
  split
  · exact evolves_join _ _ _ _
  · exact .fail (.refl _)

theorem evolves_preempt {now : Nat} (v p : Nat) (st : State) :
    Evolves now true st.outline (preempt x v p st).outline := by
  unfold preempt
  split
  · exact .fail (.refl _)
  · refine .trans (.preempt v rfl (.refl _)) (.trans ?_ (evolves_rejoin _ _))
    have h := evolves_unwind (now := now) (plan := true) (x := x) v p
      ((st.setSlot v x.w.computedSlot ‹Share›.position).session v).frames
      { st.setSlot v x.w.computedSlot ‹Share›.position with
        jobs := jobsBut v (st.setSlot v x.w.computedSlot ‹Share›.position).jobs
        preemptions := (st.setSlot v x.w.computedSlot ‹Share›.position).preemptions + 1
        preempted := (st.setSlot v x.w.computedSlot ‹Share›.position).preempted ++ [v] }
    have e := outline_setSlot st v ‹Share›.position x.w.computedSlot
    simp only [State.outline, Outline.mk.injEq] at e h ⊢
    obtain ⟨e₁, e₂, e₃, e₄⟩ := e
    simp only [e₁, e₂, e₃, e₄] at h ⊢
    exact h

theorem evolves_grow {now : Nat} (i p t : Nat) : ∀ (n : Nat) (st : State),
    Evolves now true st.outline (grow x i p t n st).1.outline := by
  intro n
  induction n with
  | zero => exact fun st => .fail (.refl _)
  | succ n ih =>
    intro st
    unfold grow
    simp only
    split
    · exact .fail (.refl _)
    · split
      · exact .refl _
      · split
        · exact .refl _
        · split
          · exact .fail (.refl _)
          · split
            · exact evolves_preempt _ _ _
            · exact (evolves_preempt _ _ _).trans (ih _)

/-- **Plans change an outline by delays, jobs, preemptions and faults only.** -/
theorem keptByPlans_evolves (o : Outline) : KeptByPlans x fun st => Evolves x.now true o st.outline where
  toKeptBySessions := keptBySessions_evolves o
  growth _ _ _ _ _ h := h.trans (evolves_grow _ _ _ _ _)

end Serq
