module

public import Serq.Theorems.Memory
public import Serq.Theorems.Runs.Request

/-!
# The hold of vLLM covers what it consumes

The units a request of vLLM takes are the prefix it reuses and a chunk, up to every token it has; the prefix
it reuses is less than that. So the memory invariant holds for programs made of such holds.
-/

@[expose] public section

namespace Serq.VllmCovers

/-- The hold of a request in terms of its attributes: `known`, the tokens it has, may be any expression. -/
def header (kv reqs block chunk : Nat) (known cache : Expr Var) : Header :=
  let reused : Expr Var := .min (.var (.cachedIn kv)) ((known - 1) / .lit block * .lit block)
  { needs := [
      { pool := reqs, units := 1 },
      { pool := kv, units := .min known (reused + .min (.lit chunk) (.var .budgetLeft)), reserve := known }]
    reuse := some reused
    cache := some cache }

theorem reuse_is_within_the_units (known chunk left cached block : Nat) :
    Op.min.eval (Op.min.eval cached ((known - 1) / block * block)) cached
      ≤ Op.min.eval known (Op.min.eval cached ((known - 1) / block * block) + Op.min.eval chunk left) := by
  have : (known - 1) / block * block ≤ known :=
    Nat.le_trans (Nat.div_mul_le_self _ _) (Nat.sub_le _ _)
  simp only [Op.eval]
  generalize (known - 1) / block * block = r at *
  repeat' split
  all_goals omega

/-- **The hold of a vLLM request covers the prefix it consumes of the memory.** -/
theorem the_hold_of_vllm_covers_what_it_consumes (d : Deployment) {kv reqs : Nat} (hne : reqs ≠ kv)
    (block chunk : Nat) (known cache : Expr Var) :
    (header kv reqs block chunk known cache).Covers d fun q => q = kv := by
  intro _ n hn hk e
  simp only [header, List.mem_cons, List.not_mem_nil, or_false] at hn
  rcases hn with rfl | rfl
  · exact absurd hk hne
  · have hb : 0 < d.block kv := by unfold Deployment.block; split <;> omega
    refine Nat.le_trans (roundDown_le _ _) (Nat.le_trans ?_ (le_roundUp hb _))
    exact reuse_is_within_the_units (known.at e) chunk e.budgetLeft (e.cachedIn kv) block

/-- **The request of the recorded scenarios never overflows the memory**, whatever the engine and the requests. -/
theorem recorded_requests_stay_within_memory {budget slots memory chunk first : Nat} {w : Workload}
    {m : Machine} (h : Reach (Request.deployment budget slots memory chunk) w (Request.program first) m) :
    (m.state.pool Request.kv).allocated + (m.state.pool Request.kv).cached ≤ memory := by
  refine Machine.allocated_and_cached_stay_within_capacity (p := Request.kv) ?_ h
  simp [Request.program, Request.programWith, Code.Covers, Header.Covers]

end Serq.VllmCovers
