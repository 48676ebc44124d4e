module

public import Serq.Generated.ClaimsDaiFastertransformer
public import Serq.Theorems.Reaching
public import Serq.Theorems.ServedRate

/-!
# Dai et al.: a scheduler that is not work conserving

What `examples/papers/dai_fastertransformer.sq` claims.
-/

public section

namespace Serq.DaiFastertransformer

open Serq.Generated.ClaimsDaiFastertransformer

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

/-- Two requests: when the second arrives, the first decodes. -/
def two : Workload := { slots with clients := [client 46750, client 93500] }

/-- Whether the running iteration leaves tokens that its residents could use. -/
def wastes (m : Option Machine) : Bool :=
  match m with
  | none => false
  | some m =>
    match m.current with
    | none => false
    | some r => 128 ≤ r.demand && r.tokens < 128

theorem two_requests_waste : wastes (run deployment two program 93500) = true := by decide +kernel

/-- **Not work conserving.** Some batch is not full while its requests could fill it. -/
theorem not_work_conserving : Claim.not_work_conserving := by
  have h := two_requests_waste
  unfold wastes at h
  split at h
  · cases h
  · rename_i m hm
    split at h
    · cases h
    · rename_i r hr
      simp only [Bool.and_eq_true, decide_eq_true_eq] at h
      exact ⟨two, ⟨rfl, by decide, ⟨46750, rfl, by decide⟩, ⟨93500, rfl, by decide⟩, trivial⟩, m,
        run_reaches hm, r, hr, h⟩

end Serq.DaiFastertransformer
