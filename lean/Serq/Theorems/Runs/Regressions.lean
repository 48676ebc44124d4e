module

public import Serq.Theorems.Runs.Request

/-!
# Recorded regressions

Runs that once told two implementations of the semantics apart, with their recorded answers.
-/

@[expose] public section

namespace Serq.Regressions

open Request

/-- A chunk cap of 8 while more than two requests wait or run. -/
def lifted : Deployment :=
  { deployment 32 2 16000 0 with chunk := .cond (.lt 2 (.var (.queued reqs) + .var .residents)) 8 0 }

theorem lifted_cap_agrees :
    answer 2 lifted (workload [client 40 5 0, client 40 7 0, client 40 3 0]) (program 32) 20
      = some { observed := [[[5], [5], [11]], [[9], [11], [13]]], preemptions := 0 } := by decide +kernel

end Serq.Regressions
