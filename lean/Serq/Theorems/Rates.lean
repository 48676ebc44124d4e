module

public import Serq.Model.Rates

/-!
# Rates sum to the capacity

A stage neither wastes nor invents capacity: the rates of the jobs at a serial stage add up to the number of
servers, or of jobs where these are fewer, and those at a shared stage to its capacity.
-/

public section

namespace Serq.Rates

theorem length_serial (servers jobs : Nat) : (serial servers jobs).length = jobs := by
  induction jobs generalizing servers with
  | zero => unfold serial; rfl
  | succ n ih => cases servers <;> simp [serial, ih]

/-- **A serial stage.** The rates of its jobs add up to the number of its servers, or to the number of jobs
where there are fewer. -/
theorem rates_of_a_serial_stage_sum_to_its_servers (servers jobs : Nat) :
    total (serial servers jobs) = ((min servers jobs : Nat) : Rat) := by
  induction jobs generalizing servers with
  | zero => simp [serial, total]
  | succ n ih =>
    cases servers with
    | zero =>
      have := ih 0
      simp [serial, total] at *
      rw [this]; grind
    | succ s =>
      have := ih s
      simp only [serial, total, this, Nat.succ_min_succ]
      grind

theorem total_each (rate : Rat) (n : Nat) : total (each rate n) = rate * (n : Rat) := by
  induction n with
  | zero => simp [each, total]
  | succ n ih => simp only [each, total, ih]; grind

/-- **A shared stage.** The rates of its jobs add up to its capacity, if there is a job. -/
theorem rates_of_a_shared_stage_sum_to_its_capacity (capacity : Nat → Rat) {jobs : Nat} (h : 0 < jobs) :
    total (shared capacity jobs) = capacity jobs := by
  unfold shared
  rw [total_each]
  have : (jobs : Rat) ≠ 0 := by
    intro h0
    have : (jobs : Rat) = ((0 : Nat) : Rat) := h0
    have := Rat.natCast_inj.mp this
    omega
  exact Rat.div_mul_cancel this

/-- **A delay** gives every job all it can take, however many there are. -/
theorem a_delay_serves_every_job_at_rate_one {jobs : Nat} (h : 0 < jobs) :
    ∀ r ∈ shared (fun n => n) jobs, r = 1 := by
  have hj : (jobs : Rat) ≠ 0 := by
    intro h0
    have : (jobs : Rat) = ((0 : Nat) : Rat) := h0
    have := Rat.natCast_inj.mp this
    omega
  have he : ∀ (x : Rat) (n : Nat), ∀ r ∈ each x n, r = x := by
    intro x n
    induction n with
    | zero => simp [each]
    | succ n ih => intro r hr; rcases List.mem_cons.mp hr with rfl | hr; rfl; exact ih r hr
  intro r hr
  rw [he _ _ r hr]
  rw [Rat.div_def]
  exact Rat.mul_inv_cancel _ hj

end Serq.Rates
