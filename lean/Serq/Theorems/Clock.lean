module

public import Serq.Theorems.Outline
public import Serq.Theorems.Budget

/-!
# The clock

Nothing that is pending lies in the past, and the pending delays are sorted by time; so the clock never goes
back, and what an engine has served is bounded by its rate.
-/

@[expose] public section

namespace Serq

/-- Delays in the order of time, none before `now`. -/
def Pending (now : Nat) : List Delay → Prop
  | [] => True
  | e :: es => now ≤ e.time ∧ Pending e.time es

theorem Pending.mono {now now' : Nat} {l : List Delay} (h : Pending now l) (hn : now' ≤ now) :
    Pending now' l := by
  cases l with
  | nil => trivial
  | cons e es => exact ⟨Nat.le_trans hn h.1, h.2⟩

/-- Inserting a delay keeps the order. -/
theorem insertDelay_keeps_order (d : Delay) : ∀ {now : Nat} {l : List Delay}, now ≤ d.time → Pending now l →
    Pending now (insertDelay d l) := by
  intro now l
  induction l generalizing now with
  | nil => exact fun hd _ => ⟨hd, trivial⟩
  | cons e es ih =>
    intro hd h
    unfold insertDelay
    split
    · exact ⟨h.1, ih ‹_› h.2⟩
    · exact ⟨hd, by omega, h.2⟩

theorem Evolves.pending {now : Nat} {plan : Bool} {o o' : Outline} (h : Evolves now plan o o')
    (hp : Pending now o.delays) : Pending now o'.delays := by
  induction h with
  | refl => exact hp
  | delay d hd _ ih => exact insertDelay_keeps_order d hd ih
  | job _ _ _ _ _ ih => exact ih
  | preempt _ _ _ ih => exact ih
  | fail _ ih => exact ih

namespace Machine

/-- Nothing pending lies in the past. -/
structure Timely (m : Machine) : Prop where
  delays : Pending m.now m.state.delays
  running : ∀ r, m.running = some r → m.now ≤ r.until_

variable {d : Deployment} {w : Workload}

theorem settle_evolves (x : Setting) (n : Nat) (st : State) :
    Evolves x.now false st.outline (settle x n st).outline :=
  (keptBySessions_evolves st.outline).settle n st (.refl _)

theorem plan_evolves (x : Setting) (chunk n : Nat) (b : Plan) :
    Evolves x.now true b.state.outline (plan x chunk n b).state.outline :=
  (keptByPlans_evolves b.state.outline).plan chunk n b (.refl _)

theorem noteFinished_same (m : Machine) :
    m.noteFinished.now = m.now ∧ m.noteFinished.running = m.running ∧ m.noteFinished.served = m.served ∧
      m.noteFinished.state.outline = m.state.outline := by
  unfold noteFinished
  split <;> exact ⟨rfl, rfl, rfl, rfl⟩

theorem applyBatch_delays (batch : List Grant) (st : State) : (applyBatch batch st).delays = st.delays := by
  unfold applyBatch
  simp only
  generalize completed _ _ = l
  suffices h : ∀ (l : List Nat) (s : State), (l.foldl State.wake s).delays = s.delays by rw [h]
  intro l
  induction l with
  | nil => exact fun _ => rfl
  | cons i l ih => intro s; simp only [List.foldl]; rw [ih]; rfl

/-- Taking the next event moves the clock forward, to the time of that event. -/
theorem handle_timely {m m' : Machine} (h : m.Timely) (he : m.handle = some m') :
    m'.Timely ∧ m.now ≤ m'.now ∧ m'.served = m.served ∧
      (m'.running = m.running ∨ (m'.running = none ∧ ∃ r, m.running = some r ∧ m'.now = r.until_)) := by
  have hd (e : Delay) (more : List Delay) (hl : m.state.delays = e :: more)
      (hr : ∀ r, m.running = some r → e.time ≤ r.until_) :
      (m.endDelay e more).Timely ∧ m.now ≤ (m.endDelay e more).now ∧ (m.endDelay e more).served = m.served ∧
      ((m.endDelay e more).running = m.running ∨ ((m.endDelay e more).running = none ∧
        ∃ r, m.running = some r ∧ (m.endDelay e more).now = r.until_)) := by
    have hp := h.delays
    rw [hl] at hp
    refine ⟨⟨?_, hr⟩, hp.1, rfl, .inl rfl⟩
    show Pending e.time _
    unfold endDelay
    simp only
    split
    · split
      · exact hp.2
      · exact hp.2
    · exact hp.2
  have hi (r : Running) (hr : m.running = some r) (hp : Pending r.until_ m.state.delays) :
      (m.endIteration r).Timely ∧ m.now ≤ (m.endIteration r).now ∧ (m.endIteration r).served = m.served ∧
      ((m.endIteration r).running = m.running ∨ ((m.endIteration r).running = none ∧
        ∃ r', m.running = some r' ∧ (m.endIteration r).now = r'.until_)) := by
    refine ⟨⟨?_, by simp [endIteration]⟩, h.running r hr, rfl, .inr ⟨rfl, r, hr, rfl⟩⟩
    show Pending r.until_ (applyBatch r.batch m.state).delays
    rw [applyBatch_delays]; exact hp
  unfold handle at he
  split at he
  · cases he
  · cases he
    rename_i r hr hl
    exact hi r hr (by rw [hl]; trivial)
  · cases he
    rename_i hr hl
    exact hd _ _ hl (by rw [hr]; simp)
  · rename_i r e more hr hl
    split at he
    · cases he
      exact hd _ _ hl fun r' h' => by rw [hr] at h'; cases h'; omega
    · cases he
      refine hi r hr ?_
      have hp := h.delays
      rw [hl] at hp ⊢
      exact ⟨by omega, hp.2⟩

/-- What follows an event either starts no iteration, or starts one with a plan. -/
theorem afterEvent_cases (m : Machine) : ∃ st : State, Evolves m.now false m.state.outline st.outline ∧
    let m' := noteFinished { m with state := settle (m.setting d w) fuel m.state }
    m'.state = st ∧
      (m.afterEvent d w = m' ∨
        (m.running = none ∧ m.afterEvent d w
          = m'.begin (m'.setting d w) ((m'.setting d w).chunk st) (planned (m'.setting d w) st))) := by
  refine ⟨(noteFinished { m with state := settle (m.setting d w) fuel m.state }).state, ?_, rfl, ?_⟩
  · rw [(noteFinished_same _).2.2.2]
    exact settle_evolves (m.setting d w) fuel m.state
  · unfold afterEvent tryBegin
    split
    · exact .inl rfl
    · rename_i hr
      rw [(noteFinished_same _).2.1] at hr
      split
      · exact .inl rfl
      · exact .inr ⟨hr, rfl⟩

theorem afterEvent_timely {m : Machine} (h : m.Timely) : (m.afterEvent d w).Timely := by
  obtain ⟨st, hev, hst, hc⟩ := afterEvent_cases (d := d) (w := w) m
  have hs := noteFinished_same { m with state := settle (m.setting d w) fuel m.state }
  have hp := hev.pending h.delays
  rcases hc with hc | ⟨hr, hc⟩
  · rw [hc]
    refine ⟨?_, fun r h' => ?_⟩
    · rw [hs.1, hst]; exact hp
    · rw [hs.2.1] at h'; rw [hs.1]; exact h.running r h'
  · rw [hc]
    generalize noteFinished { m with state := settle (m.setting d w) fuel m.state } = m' at *
    have hpl := plan_evolves (m'.setting d w) ((m'.setting d w).chunk st) fuel
      { state := st, left := d.budget, todo := st.jobs }
    have hp' := hpl.pending (by show Pending m'.now _; rw [hs.1]; exact hp)
    unfold begin
    split
    · refine ⟨hp', fun r h' => ?_⟩
      simp only at h'
      rw [hs.2.1, hr] at h'
      cases h'
    · refine ⟨hp', fun r h' => ?_⟩
      simp only [Option.some.injEq] at h'
      subst h'
      exact Nat.le_add_right _ _

theorem initial_timely (program : Code) : (initial d w program).Timely :=
  ⟨trivial, by simp [initial]⟩

/-- **On every reached machine nothing pending lies in the past.** -/
theorem nothing_pending_lies_in_the_past {program : Code} {m : Machine} (h : Reach d w program m) :
    m.Timely := by
  have hs {m m' : Machine} (h : m.sound = some m') : m = m' := by
    unfold sound at h; split at h <;> cases h; rfl
  induction h with
  | start h =>
    unfold Serq.start at h
    rw [← hs h]
    exact afterEvent_timely (initial_timely program)
  | step _ h ih =>
    unfold Serq.step at h
    split at h
    · cases h
    · rename_i he
      rw [← hs h]
      exact afterEvent_timely (handle_timely ih he).1

end Machine

end Serq
