module

public import Serq.Generated.ClaimsDaiSarathi
public import Serq.Theorems.Conservation
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

/-- A session brings 290 and 990 tokens. -/
theorem one_sessions_work (attrs : List Nat) : program.ahead attrs = 1280 := by
  simp [program, Code.ahead, Expr.ofAttrs, Expr.eval]

/-- All sessions bring 1280 tokens each. -/
theorem all_work (w : Workload) : (initial deployment w program).state.ahead = 1280 * w.clients.length := by
  unfold State.ahead initial
  simp only
  induction w.clients with
  | nil => rfl
  | cons c cs ih =>
    simp only [List.map_cons, sumOf, ih, one_sessions_work, List.length_cons]
    omega

/-- **Conservation of work.** Tokens served, left with residents and not begun are 1280 for each session; those of
the running iteration are counted as served and as left. -/
theorem work_is_conserved {w : Workload} (hw : Workloads.bounded w) {m : Machine}
    (h : Reach deployment w program m) :
    m.served + m.state.remaining + m.state.ahead = 1280 * w.clients.length + m.inFlight := by
  have hslots := hw.1
  have hmay := hw.2.2
  rw [← all_work w]
  refine Machine.work_is_conserved (preset := fun _ => false) (by decide) (by rw [hslots]; rfl) ?_ h
  generalize w.clients = cs at hmay
  suffices hs : ∀ (cs : List Client) (i : Nat), AllMay (fun i c => ∃ arrival_, c = client arrival_ ∧
      arrival_ = (i + 1) * 46750) i cs → ∀ c ∈ cs, c.turns = [] from hs cs 0 hmay
  intro cs
  induction cs with
  | nil => intro _ _ c hc; cases hc
  | cons a cs ih =>
    rintro i ⟨⟨_, rfl, _⟩, hrest⟩ c hc
    rcases List.mem_cons.mp hc with rfl | hc
    · rfl
    · exact ih _ hrest c hc

end Serq.DaiSarathi
