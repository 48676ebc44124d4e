module

public import Serq.Theorems.Clock

/-!
# The rate of an engine

If no iteration within the budget serves tokens faster than a rate, then neither does the engine over any
time from the start: before every iteration of every program, the tokens served so far are within the rate.
-/

@[expose] public section

namespace Serq

/-- Every iteration of at most `budget` tokens serves at most `rate` tokens in each `time`. -/
def RateBound (d : Deployment) (rate time : Nat) : Prop :=
  ∀ r : Iteration, r.tokens ≤ d.budget → r.tokens * time ≤ rate * duration d r

namespace Machine

/-- The time up to which the machine's work is paid for: the end of the running iteration, or now. -/
def horizon (m : Machine) : Nat :=
  match m.running with
  | some r => r.until_
  | none => m.now

/-- What was served is within the rate, and was before every iteration. -/
structure WithinRate (rate time : Nat) (m : Machine) : Prop where
  served : m.served * time ≤ rate * m.horizon
  log : ∀ r ∈ m.log, r.served * time ≤ rate * r.start

variable {d : Deployment} {w : Workload} {rate time : Nat}

theorem noteFinished_log {m : Machine} {P : Nat → Nat → Prop} (h : ∀ r ∈ m.log, P r.served r.start) :
    ∀ r ∈ m.noteFinished.log, P r.served r.start := by
  unfold noteFinished
  split
  · rename_i r₀ log _ hl
    rw [hl] at h
    intro r hr
    rcases List.mem_cons.mp hr with rfl | hr
    · exact h r₀ (by simp)
    · exact h r (by simp [hr])
  · exact h

theorem afterEvent_within {m : Machine} (hb : RateBound d rate time) (h : m.WithinRate rate time) :
    (m.afterEvent d w).WithinRate rate time := by
  obtain ⟨st, _, _, hc⟩ := afterEvent_cases (d := d) (w := w) m
  have hs := noteFinished_same { m with state := settle (m.setting d w) fuel m.state }
  have hl := noteFinished_log (m := { m with state := settle (m.setting d w) fuel m.state })
    (P := fun a b => a * time ≤ rate * b) h.log
  have hv := h.served
  rcases hc with hc | ⟨hr, hc⟩
  · rw [hc]
    refine ⟨?_, hl⟩
    unfold horizon at hv ⊢
    rw [hs.1, hs.2.1, hs.2.2.1]
    exact hv
  · rw [hc]
    have hnow : m.served * time ≤ rate * m.now := by
      unfold horizon at hv; rw [hr] at hv; exact hv
    generalize noteFinished { m with state := settle (m.setting d w) fuel m.state } = m' at *
    have h1 : m'.now = m.now := hs.1
    have h2 : m'.running = none := hs.2.1.trans hr
    have h3 : m'.served = m.served := hs.2.2.1
    unfold begin
    split
    · refine ⟨?_, hl⟩
      simp only [horizon, h2, h3, h1]
      exact hnow
    · have hbud := an_iteration_hands_out_at_most_the_budget (m'.setting d w) st
      have hrate := hb (record (m'.setting d w) m'.served ((m'.setting d w).chunk st)
        (planned (m'.setting d w) st)) hbud
      refine ⟨?_, fun r hr' => ?_⟩
      · show (m'.served + _) * time ≤ rate * (m'.now + duration d _)
        rw [Nat.add_mul, Nat.mul_add, h3, h1]
        rw [h3] at hrate
        exact Nat.add_le_add hnow hrate
      · rcases List.mem_cons.mp hr' with rfl | hr'
        · show m'.served * time ≤ rate * m'.now
          rw [h3, h1]; exact hnow
        · exact hl r hr'

theorem handle_within {m m' : Machine} (ht : m.Timely) (h : m.WithinRate rate time)
    (he : m.handle = some m') : m'.WithinRate rate time := by
  obtain ⟨_, hn, hs, hr⟩ := handle_timely ht he
  have hv := h.served
  have hlog : m'.log = m.log := by
    unfold handle at he
    split at he
    · cases he
    · cases he; rfl
    · cases he; rfl
    · split at he <;> (cases he; rfl)
  refine ⟨?_, by rw [hlog]; exact h.log⟩
  rw [hs]
  unfold horizon at hv ⊢
  rcases hr with hr | ⟨hr, r, hr', hu⟩
  · rw [hr]
    split
    · rename_i r hr'; rw [hr'] at hv; exact hv
    · rename_i hr'
      rw [hr'] at hv
      exact Nat.le_trans hv (Nat.mul_le_mul_left _ hn)
  · rw [hr, hu]; rw [hr'] at hv; exact hv

/-- A property of the initial machine that events and what follows them keep holds on every
reached machine. -/
theorem reached_machines_satisfy {program : Code} {P : Machine → Prop} (h0 : P (initial d w program))
    (ha : ∀ m, P m → P (m.afterEvent d w)) (hh : ∀ m m', P m → m.handle = some m' → P m') {m : Machine}
    (h : Reach d w program m) : P m := by
  have hs {m m' : Machine} (h : m.sound = some m') : m = m' := by
    unfold sound at h; split at h <;> cases h; rfl
  induction h with
  | start h => unfold Serq.start at h; rw [← hs h]; exact ha _ h0
  | step _ h ih =>
    unfold Serq.step at h
    split at h
    · cases h
    · rename_i he
      rw [← hs h]
      exact ha _ (hh _ _ ih he)

/-- **served_rate.** Before every iteration of every program, the tokens served are within the rate. -/
theorem served_rate {program : Code} {m : Machine} (hb : RateBound d rate time)
    (h : Reach d w program m) : ∀ r ∈ m.log, r.served * time ≤ rate * r.start := by
  have := reached_machines_satisfy (P := fun m => m.Timely ∧ m.WithinRate rate time)
    ⟨initial_timely program, by simp [initial, horizon], by simp [initial]⟩
    (fun m hm => ⟨afterEvent_timely hm.1, afterEvent_within hb hm.2⟩)
    (fun m m' hm he => ⟨(handle_timely hm.1 he).1, handle_within hm.1 hm.2 he⟩) h
  exact this.2.log

end Machine

end Serq
