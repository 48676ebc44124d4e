module

public import Serq.Generated.ClaimsDaiSarathi
public import Serq.Theorems.NeverGrows

/-!
# Dai et al.: a work-conserving scheduler

What `examples/papers/dai_sarathi.sq` claims. Open is `bounded`.
-/

public section

namespace Serq.DaiSarathi

open Serq.Generated.ClaimsDaiSarathi

/-- A full batch takes 1128 + 3547 units of time, and no smaller one serves tokens faster. -/
theorem no_batch_is_faster_than_a_full_one : RateBound deployment 128 4675 := by
  intro r hr
  have hb : r.tokens ≤ 128 := hr
  have hc : duration deployment r =
      if 1128 + 3547 * ((r.tokens + 128 - 1) / 128) = 0 then 1
      else 1128 + 3547 * ((r.tokens + 128 - 1) / 128) := rfl
  rw [hc]
  split <;> omega

/-- **Token rate.** No more than 128 tokens per time of a full batch are served. -/
theorem token_rate : Claim.token_rate :=
  every_iteration_of_the_log fun _ _ _ hm r hr =>
    Machine.served_rate no_batch_is_faster_than_a_full_one hm r hr

/-- **Work conservation.** A batch is full unless its requests get all they can use. -/
theorem work_conserving : Claim.work_conserving :=
  every_iteration_of_the_log fun _ _ _ hm r hr => by
    have h := Machine.programs_that_never_grow_are_work_conserving (d := deployment) rfl (by decide) hm r hr
    have hb : deployment.budget = 128 := rfl
    rw [hb] at h
    omega

end Serq.DaiSarathi
