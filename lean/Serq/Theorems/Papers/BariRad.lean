module

public import Serq.Generated.ClaimsBariRad
public import Serq.Theorems.ServedRate

/-!
# Bari et al.: optimal tiling

What `examples/papers/bari_rad.sq` claims. Open is `optimal_tiling`.
-/

public section

namespace Serq.BariRad

open Serq.Generated.ClaimsBariRad

/-- A full tile takes 4000 + 5 · 128 microseconds, and no batch within it serves tokens faster. -/
theorem no_batch_is_faster_than_a_full_tile : RateBound deployment 128 4640 := by
  intro r hr
  have hb : r.tokens ≤ 128 := hr
  have hc : duration deployment r =
      if 5 * r.tokens + 4000 * ((r.tokens + 128 - 1) / 128) = 0 then 1
      else 5 * r.tokens + 4000 * ((r.tokens + 128 - 1) / 128) := rfl
  rw [hc]
  split <;> omega

/-- **Token rate.** No more than 128 tokens per time of a full tile are served. -/
theorem token_rate : Claim.token_rate :=
  every_iteration_of_the_log fun _ _ _ hm r hr =>
    Machine.served_rate no_batch_is_faster_than_a_full_tile hm r hr

end Serq.BariRad
