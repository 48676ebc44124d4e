module

public import Serq.Model.Parts
public import Serq.Theorems.Accounting
public import Serq.Theorems.Outline
public import Serq.Theorems.ServedRate

/-!
# Programs run their own parts

On every machine a program reaches, each session's statement, its frames and the holds a preemption would
execute again are parts of the program, and each job comes from one of its runs.
-/

public section

namespace Serq

variable {x : Setting} {program : Code} {st : State}

namespace State.Within

theorem session (h : st.Within program) (i : Nat) : (st.session i).Within program := by
  by_cases hi : i < st.sessions.length
  · exact h.sessions _ (nth_mem _ _ _ hi)
  · rw [session_beyond (Nat.le_of_not_lt hi)]; exact ⟨.inl rfl, by simp⟩

theorem setSession (h : st.Within program) (i : Nat) {s : Session} (hs : s.Within program) :
    (st.setSession i s).Within program where
  sessions := fun t ht => by
    rcases mem_put ht with rfl | ht
    · exact hs
    · exact h.sessions t ht
  jobs := h.jobs

end State.Within

/-- The sessions of a program with one replaced. -/
theorem put_within (h : st.Within program) (i : Nat) (s : Session) (hs : s.Within program) :
    ∀ t ∈ put s i st.sessions, t.Within program := (h.setSession i hs).sessions

theorem frames_tail {f : Frame} {fs : List Frame} (h : ∀ g ∈ f :: fs, g.Within program) :
    ∀ g ∈ fs, g.Within program := fun g hg => h g (by simp [hg])

/-! ## Holds -/

theorem giveBackAll_within (i : Nat) (cache : Option (Expr Var)) (positional : Bool) :
    ∀ (l : List Share) (st : State), st.Within program →
      (giveBackAll x i cache positional l st).Within program := by
  intro l
  induction l with
  | nil => exact fun _ h => h
  | cons s l ih => intro st h; unfold giveBackAll; exact ih _ ⟨h.sessions, h.jobs⟩

theorem release_within (i : Nat) (hd : Open) (positional : Bool) (h : st.Within program) :
    (release x i hd positional st).Within program := giveBackAll_within _ _ _ _ _ h

theorem releaseAll_within (i : Nat) : ∀ (fs : List Frame) (st : State), (∀ f ∈ fs, f.Within program) →
    st.Within program → (releaseAll x i fs st).Within program := by
  intro fs
  induction fs with
  | nil => exact fun _ _ h => h
  | cons f fs ih =>
    intro st hf h
    have hs := h.setSession i (s := { st.session i with frames := fs }) ⟨(h.session i).code, frames_tail hf⟩
    cases f with
    | hold hd next => unfold releaseAll; exact ih _ (frames_tail hf) (release_within _ _ _ hs)
    | _ => unfold releaseAll; exact ih _ (frames_tail hf) hs

theorem endSession_within (i : Nat) (h : st.Within program) : (endSession x i st).Within program :=
  (releaseAll_within i _ st (h.session i).frames h).setSession i ⟨.inl rfl, by simp⟩

theorem setSlot_within (h : st.Within program) (i : Nat) (slot : Option Nat) (v : Nat) :
    (st.setSlot i slot v).Within program := by
  cases slot with
  | none => exact h
  | some k => exact h.setSession i ⟨(h.session i).code, (h.session i).frames⟩

theorem join_within (i : Nat) (hd : Header) (front : Bool) (h : st.Within program) :
    (join x i hd front st).Within program := by
  unfold join
  split
  · exact ⟨h.sessions, h.jobs⟩
  · split
    · exact ⟨h.sessions, h.jobs⟩
    · split
      · exact endSession_within i h
      · exact ⟨put_within h i _ ⟨(h.session i).code, (h.session i).frames⟩, h.jobs⟩

theorem takeAll_within (i : Nat) (amount : Nat → Option (Nat → Nat)) : ∀ (l : List Demand) (st : State),
    st.Within program → (takeAll x i amount l st).2.Within program := by
  intro l
  induction l with
  | nil => exact fun _ h => h
  | cons m l ih => intro st h; unfold takeAll; exact ih _ ⟨h.sessions, h.jobs⟩

theorem enter_within {i : Nat} {hd : Header} {body next : Code} {e : Env} (h : st.Within program)
    (hc : (st.session i).code = .hold hd body next) : (enter x i hd body next e st).Within program := by
  have hp : Part program (.hold hd body next) := by
    rcases (h.session i).code with hf | hf
    · rw [hc] at hf; cases hf
    · rw [hc] at hf; exact hf
  unfold enter
  simp only
  generalize (fun p => hd.cache.map fun _ => consumed (x.d.block p) (hd.reuse.map fun r => r.at e)) = A
  have ht := takeAll_within (x := x) i A (hd.needs.map (Need.demand x.d e)) st h
  generalize takeAll x i A (hd.needs.map (Need.demand x.d e)) st = T at ht ⊢
  have hs := ht.setSession i (s := { T.2.session i with
    cached := mostPosition T.1
    code := body
    frames := .hold { header := hd, body, shares := T.1 } next :: (T.2.session i).frames
    status := .ready
    admission := some st.admissions }) ⟨.inr hp.body, fun f hf => by
      rcases List.mem_cons.mp hf with rfl | hf
      · exact hp
      · exact (ht.session i).frames f hf⟩
  exact ⟨hs.sessions, hs.jobs⟩

theorem tryHead_within {p : Nat} {left : Option Nat} {st' : State} (h : st.Within program)
    (he : tryHead x p left st = some st') : st'.Within program := by
  unfold tryHead at he
  split at he
  · cases he
  · split at he
    · rename_i hc
      simp only at he
      split at he
      · cases he
        exact enter_within ⟨h.sessions, h.jobs⟩ hc
      · cases he
    · cases he

/-! ## Statements -/

theorem keptByAdmission_within : KeptByAdmission x (State.Within program) where
  fail _ h := ⟨h.sessions, h.jobs⟩
  admission _ _ _ _ h he := tryHead_within h he

theorem startRun_within (i : Nat) {place : Place} {e : Expr Var} {next : Code} (work : Nat)
    (h : st.Within program) (hp : Part program (.run place e next)) :
    (startRun x i place work next st).Within program := by
  have hj (j : Job) (hj : j.Within program) : ∀ k ∈ insertJob st (st.session i).admission j st.jobs,
      k.Within program := by
    obtain ⟨b, c, e₁, e₂⟩ := insertJob_inserts st (st.session i).admission j st.jobs
    intro k hk
    rw [e₂] at hk
    rcases List.mem_append.mp hk with hk | hk
    · exact h.jobs k (by rw [e₁]; simp [hk])
    · rcases List.mem_cons.mp hk with rfl | hk
      · exact hj
      · exact h.jobs k (by rw [e₁]; simp [hk])
  unfold startRun
  simp only
  split
  · exact ⟨put_within h i _ ⟨.inr hp.run, (h.session i).frames⟩, h.jobs⟩
  · split
    · exact ⟨put_within h i _ ⟨.inr hp.run, (h.session i).frames⟩, h.jobs⟩
    · exact ⟨put_within h i _ ⟨.inr hp.run, (h.session i).frames⟩, hj _ ⟨e, next, hp⟩⟩
    · exact ⟨put_within h i _ ⟨.inr hp.run, (h.session i).frames⟩, hj _ ⟨e, next, hp⟩⟩

theorem takeTurn_within (i : Nat) (h : st.Within program) : (takeTurn x i st).Within program := by
  have hc : (countTurn x i st).Within program := by
    unfold countTurn
    split
    · exact h
    · exact h.setSession i ⟨(h.session i).code, (h.session i).frames⟩
  have hv (values : List Nat) (n : Nat) : ((countTurn x i st).setSession i
      { (countTurn x i st).session i with attrs := values, turn := n }).Within program :=
    hc.setSession i ⟨(hc.session i).code, (hc.session i).frames⟩
  unfold takeTurn
  simp only
  split
  · exact hc
  · split
    · exact setSlot_within hc _ _ _
    · exact setSlot_within (hv _ _) _ _ _

theorem command_within (i : Nat) (h : st.Within program) : (command x i st).1.Within program := by
  have hg := h.session i
  have hc : ∀ {c : Code}, (st.session i).code = c → c ≠ .finish → Part program c := by
    intro c he hne
    rcases hg.code with hf | hf
    · exact absurd (he ▸ hf) hne
    · exact he ▸ hf
  unfold command
  simp only
  split
  · exact endSession_within i h
  · rename_i he
    exact h.setSession i ⟨.inr (hc he nofun).set, hg.frames⟩
  · rename_i name value next he
    have := h.setSession i (s := { st.session i with code := next }) ⟨.inr (hc he nofun).observe, hg.frames⟩
    exact ⟨this.sessions, this.jobs⟩
  · rename_i he
    exact takeTurn_within i (h.setSession i ⟨.inr (hc he nofun).turn, hg.frames⟩)
  · rename_i he
    have hp := hc he nofun
    refine h.setSession i ⟨.inr ?_, fun f hf => ?_⟩
    · show Part _ (if _ = 0 then _ else _)
      split
      · exact hp.no
      · exact hp.yes
    · rcases List.mem_cons.mp hf with rfl | hf
      · exact hp.join
      · exact hg.frames f hf
  · rename_i he
    have hp := (hc he nofun).loop
    refine h.setSession i ⟨.inr hp, fun f hf => ?_⟩
    rcases List.mem_cons.mp hf with rfl | hf
    · exact hp
    · exact hg.frames f hf
  · rename_i he
    have hp := hc he nofun
    split
    · exact h.setSession i ⟨.inr hp.leave, hg.frames⟩
    · refine h.setSession i ⟨.inr hp.again, fun f hf => ?_⟩
      rcases List.mem_cons.mp hf with rfl | hf
      · exact hp
      · exact hg.frames f hf
  · rename_i he
    exact startRun_within i _ h (hc he nofun)
  · exact join_within i _ _ h
  · have hf := hg.frames
    split
    · exact endSession_within i h
    · rename_i next fs he
      rw [he] at hf
      exact h.setSession i ⟨.inr (hf (.rest next) (by simp)), frames_tail hf⟩
    · rename_i body fs he
      rw [he] at hf
      exact h.setSession i ⟨.inr (hf (.loop body) (by simp)), hg.frames⟩
    · rename_i e body next fs he
      rw [he] at hf
      exact h.setSession i ⟨.inr (hf (.again e body next) (by simp)), frames_tail hf⟩
    · rename_i hd next fs he
      rw [he] at hf
      have hp : Part program (.hold hd.header hd.body next) := hf (.hold hd next) (by simp)
      unfold endHold
      apply keptByAdmission_within.admitAll
      have hr := setSlot_within (release_within (x := x) i hd false
        (h.setSession i (s := { st.session i with code := next, frames := fs })
          ⟨.inr hp.release, frames_tail hf⟩)) i x.w.computedSlot 0
      simp only
      split
      · exact ⟨hr.sessions, hr.jobs⟩
      · exact hr

theorem keptBySessions_within : KeptBySessions x (State.Within program) where
  toKeptByAdmission := keptByAdmission_within
  ready _ _ h := ⟨h.sessions, h.jobs⟩
  statement i _ h := command_within i h

/-! ## Growth -/

theorem within_advance {p units position : Nat} : ∀ {fs : List Frame}, (∀ f ∈ fs, f.Within program) →
    ∀ f ∈ advance p units position fs, f.Within program := by
  intro fs
  induction fs with
  | nil => intro _ f hf; cases hf
  | cons g fs ih =>
    intro h f hf
    have ht := ih (frames_tail h)
    have hg := h g (by simp)
    cases g with
    | hold o next =>
      unfold advance at hf
      split at hf
      · rcases List.mem_cons.mp hf with rfl | hf
        · exact hg
        · exact h f (by simp [hf])
      · rcases List.mem_cons.mp hf with rfl | hf
        · exact hg
        · exact ht f hf
    | _ =>
      rcases List.mem_cons.mp hf with rfl | hf
      · exact hg
      · exact ht f hf

theorem unwind_within (i p : Nat) : ∀ (fs : List Frame) (st : State), (∀ f ∈ fs, f.Within program) →
    st.Within program → (unwind x i p fs st).Within program := by
  intro fs
  induction fs with
  | nil => exact fun _ _ h => ⟨h.sessions, h.jobs⟩
  | cons f fs ih =>
    intro st hf h
    cases f with
    | hold hd next =>
      have hr := release_within (x := x) i hd true (h.setSession i
        (s := { st.session i with code := .hold hd.header hd.body next, frames := fs })
        ⟨.inr (hf (.hold hd next) (by simp)), frames_tail hf⟩)
      unfold unwind
      simp only
      split
      · exact hr
      · exact ih _ (frames_tail hf) hr
    | _ =>
      unfold unwind
      exact ih _ (frames_tail hf) (h.setSession i ⟨(h.session i).code, frames_tail hf⟩)

theorem jobsBut_mem {v : Nat} {j : Job} : ∀ {jobs : List Job}, j ∈ jobsBut v jobs → j ∈ jobs := by
  intro jobs
  induction jobs with
  | nil => intro h; cases h
  | cons k ks ih =>
    intro h
    unfold jobsBut at h
    split at h
    · exact List.mem_cons_of_mem _ (ih h)
    · rcases List.mem_cons.mp h with rfl | h
      · simp
      · exact List.mem_cons_of_mem _ (ih h)

theorem preempt_within (v p : Nat) (h : st.Within program) : (preempt x v p st).Within program := by
  unfold preempt
  split
  · exact ⟨h.sessions, h.jobs⟩
  · have hs := setSlot_within h v x.w.computedSlot ‹Share›.position
    have hu := unwind_within (x := x) v p _
      { st.setSlot v x.w.computedSlot ‹Share›.position with
        jobs := jobsBut v (st.setSlot v x.w.computedSlot ‹Share›.position).jobs
        preemptions := (st.setSlot v x.w.computedSlot ‹Share›.position).preemptions + 1
        preempted := (st.setSlot v x.w.computedSlot ‹Share›.position).preempted ++ [v] }
      (hs.session v).frames ⟨hs.sessions, fun j hj => hs.jobs j (jobsBut_mem hj)⟩
    unfold rejoin
    simp only
    split
    · exact join_within _ _ _ hu
    · exact ⟨hu.sessions, hu.jobs⟩

theorem grow_within (i p t : Nat) : ∀ (n : Nat) (st : State), st.Within program →
    (grow x i p t n st).1.Within program := by
  intro n
  induction n with
  | zero => exact fun _ h => ⟨h.sessions, h.jobs⟩
  | succ n ih =>
    intro st h
    have hg := h.session i
    unfold grow
    simp only
    split
    · exact ⟨h.sessions, h.jobs⟩
    · split
      · exact h.setSession i ⟨hg.code, within_advance hg.frames⟩
      · split
        · exact ⟨put_within h i _ ⟨hg.code, within_advance hg.frames⟩, h.jobs⟩
        · split
          · exact ⟨h.sessions, h.jobs⟩
          · split
            · exact preempt_within _ _ h
            · exact ih _ (preempt_within _ _ h)

theorem keptByPlans_within : KeptByPlans x (State.Within program) where
  toKeptBySessions := keptBySessions_within
  growth _ _ _ _ _ h := grow_within _ _ _ _ _ h

/-! ## Machines -/

namespace Machine

variable {d : Deployment} {w : Workload}

theorem afterEvent_within' {m : Machine} (h : m.state.Within program) :
    (m.afterEvent d w).state.Within program := by
  have hs := (keptBySessions_within (x := m.setting d w) (program := program)).settle fuel _ h
  have hn : (noteFinished { m with state := settle (m.setting d w) fuel m.state }).state.Within program := by
    unfold noteFinished
    split
    · exact ⟨hs.sessions, hs.jobs⟩
    · exact hs
  unfold afterEvent
  generalize noteFinished { m with state := settle (m.setting d w) fuel m.state } = m' at *
  unfold tryBegin
  split
  · exact hn
  · split
    · exact hn
    · have hp := (keptByPlans_within (x := m'.setting d w) (program := program)).plan
        ((m'.setting d w).chunk m'.state) fuel
        { state := m'.state, left := d.budget, todo := m'.state.jobs } hn
      unfold begin
      simp only
      split
      · exact hp
      · exact ⟨hp.sessions, hp.jobs⟩

theorem wake_within {st : State} (i : Nat) (h : st.Within program) : (st.wake i).Within program := by
  have hs := h.setSession i (s := { st.session i with status := .ready })
    ⟨(h.session i).code, (h.session i).frames⟩
  exact ⟨hs.sessions, hs.jobs⟩

theorem handle_within' {m m' : Machine} (h : m.state.Within program) (he : m.handle = some m') :
    m'.state.Within program := by
  have hd (e : Delay) (more : List Delay) : (m.endDelay e more).state.Within program := by
    have h' : ({ m.state with delays := more } : State).Within program := ⟨h.sessions, h.jobs⟩
    unfold endDelay
    simp only
    split
    · split
      · exact wake_within _ h'
      · exact h'
    · exact h'
  have hi (r : Running) : (m.endIteration r).state.Within program := by
    show (applyBatch r.batch m.state).Within program
    unfold applyBatch
    simp only
    generalize completed _ _ = l
    suffices hw : ∀ (l : List Nat) (s : State), s.Within program → (l.foldl State.wake s).Within program by
      refine hw l _ ⟨h.sessions, fun j hj => ?_⟩
      obtain ⟨hj, _⟩ := List.mem_filter.mp hj
      obtain ⟨k, hk, rfl⟩ := List.mem_map.mp hj
      exact h.jobs k hk
    intro l
    induction l with
    | nil => exact fun _ h => h
    | cons i l ih => exact fun s hs => ih _ (wake_within i hs)
  unfold handle at he
  split at he
  · cases he
  · cases he; exact hi _
  · cases he; exact hd _ _
  · split at he
    · cases he; exact hd _ _
    · cases he; exact hi _

/-- **Sub-programs.** On every reached machine each session's statement, its frames and the holds it would
execute again are parts of the program, and each job comes from one of its runs. -/
theorem sessions_run_parts_of_their_program {m : Machine} (h : Reach d w program m) :
    m.state.Within program :=
  reached_machines_satisfy (P := fun m => m.state.Within program)
    ⟨fun s hs => by
      obtain ⟨c, _, rfl⟩ := List.mem_map.mp hs
      exact ⟨.inr .whole, by simp⟩, by simp [initial]⟩
    (fun _ h => afterEvent_within' h) (fun _ _ h he => handle_within' h he) h

end Machine

end Serq
