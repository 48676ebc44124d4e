module

public import Serq.Model.Run

/-!
# Runs reach machines

The machine that a run leaves at its horizon is one that its program can reach.
-/

public section

namespace Serq

variable {d : Deployment} {w : Workload} {program : Code}

theorem runFrom_reaches {horizon : Nat} : ∀ (n : Nat) (m m' : Machine), Reach d w program m →
    runFrom d w horizon n m = some m' → Reach d w program m' := by
  intro n
  induction n with
  | zero => intro m m' _ h; cases h
  | succ n ih =>
    intro m m' hm h
    unfold runFrom at h
    split at h
    · cases h; exact hm
    · split at h
      · split at h
        · cases h
        · exact ih _ _ (.step hm ‹_›) h
      · cases h; exact hm

/-- **The machine a run leaves is reached.** -/
theorem run_reaches {horizon : Nat} {m : Machine} (h : run d w program horizon = some m) :
    Reach d w program m := by
  unfold run at h
  split at h
  · cases h
  · exact runFrom_reaches _ _ _ (.start ‹_›) h

end Serq
