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

/-- A workload of one session that may come first is in its family. -/
theorem one_session_belongs {may : Nat → Client → Prop} {many : Nat → Prop} {slots : Workload} {c : Client}
    (hm : many 1) (hc : may 0 c) : sessionsThat may many slots { slots with clients := [c] } :=
  ⟨rfl, hm, hc, trivial⟩

/-- So is one of equal sessions that may come anywhere. -/
theorem equal_sessions_belong {may : Nat → Client → Prop} {many : Nat → Prop} {slots : Workload} {c : Client}
    (n : Nat) (hm : many n) (hc : ∀ i, may i c) :
    sessionsThat may many slots { slots with clients := List.replicate n c } := by
  refine ⟨rfl, by simpa using hm, ?_⟩
  have : ∀ k i, AllMay may i (List.replicate k c) := by
    intro k
    induction k with
    | zero => intro i; trivial
    | succ k ih => intro i; exact ⟨hc i, ih (i + 1)⟩
  exact this n 0

/-- Every session of a workload of a family may stand at its place. -/
theorem sessions_may {may : Nat → Client → Prop} : ∀ {cs : List Client} {i k : Nat} {c : Client},
    AllMay may i cs → cs[k]? = some c → may (i + k) c := by
  intro cs
  induction cs with
  | nil => intro i k c _ h; simp at h
  | cons a cs ih =>
    intro i k c h hk
    cases k with
    | zero => simp at hk; exact hk ▸ h.1
    | succ k =>
      simp at hk
      have := ih h.2 hk
      rwa [Nat.add_assoc, Nat.add_comm 1 k] at this

/-- The prefix total of 3, 1 and 2 is 1 + (1 + 2) + (1 + 2 + 3). -/
theorem prefix_total_of_three_one_two : prefixTotal [3, 1, 2] = 10 := by decide

end Serq
