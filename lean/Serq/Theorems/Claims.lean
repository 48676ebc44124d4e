module

public import Serq.Model.Claims

/-!
# Claims

How a claim about every iteration follows from what is known of all iterations on record, and what the
aggregates of end claims are.
-/

public section

namespace Serq

variable {d : Deployment} {W : Family} {program : Code}

/-- The running iteration is on record. -/
theorem current_is_on_record {m : Machine} {r : Iteration} (h : m.current = some r) : r ∈ m.log := by
  unfold Machine.current at h
  split at h
  · rename_i hl
    cases h
    rw [hl]
    simp
  · cases h

/-- **What holds of every iteration on record is a claim of every iteration.** -/
theorem every_iteration_of_the_log {q : Iteration → Prop}
    (h : ∀ w, W w → ∀ m, Reach d w program m → ∀ r ∈ m.log, q r) : EveryIteration d W program q :=
  fun w hw m hm _ hr => h w hw m hm _ (current_is_on_record hr)

/-- The prefix total of 3, 1 and 2 is 1 + (1 + 2) + (1 + 2 + 3). -/
theorem prefix_total_of_three_one_two : prefixTotal [3, 1, 2] = 10 := by decide

end Serq
