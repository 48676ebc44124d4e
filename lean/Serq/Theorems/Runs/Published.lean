module

public import Serq.Theorems.Runs.Request

/-!
# The published scenarios

Seven scenarios that were run by the scheduler of vLLM v1: for each, the step of every request's first
token, the step of its last, and the number of preemptions are those of the machine.
-/

public section

namespace Serq.Published

open Request

/-- Two prompts of 80 tokens in 160 units: the second preempts itself and waits for the first to end. -/
theorem preempt_agrees :
    answer 2 (deployment 100 16 160 0) (workload [client 80 30 0, client 80 30 0]) (program 100) 65
      = some { observed := [[[1], [31]], [[30], [60]]], preemptions := 1 } := by decide +kernel

/-- Two preemptions, and a chunk cap that is lifted while a request is alone. -/
theorem alone_agrees :
    answer 2 (deployment 32 8 144 24)
        (workload [client 60 12 1, client 60 24 4, client 60 12 0, client 30 6 1]) (program 24) 53
      = some { observed := [[[5], [25], [3], [17]], [[23], [48], [14], [22]]], preemptions := 2 } := by
  decide +kernel

/-- A long prompt in chunks. -/
theorem chunked_agrees :
    answer 2 (deployment 1024 16 15984 0)
        (workload [client 3000 2 0, client 700 5 1, client 100 3 1]) (program 1024) 13
      = some { observed := [[[3], [4], [4]], [[4], [8], [6]]], preemptions := 0 } := by decide +kernel

/-- The head of the queue does not fit, and a small request behind it waits. -/
theorem hol_agrees :
    answer 2 (deployment 1024 16 160 0)
        (workload [client 96 10 0, client 96 10 0, client 16 3 0]) (program 1024) 25
      = some { observed := [[[1], [11], [11]], [[10], [20], [13]]], preemptions := 0 } := by decide +kernel

/-- Two long prompts under a chunk cap. -/
theorem longchunk_agrees :
    answer 2 (deployment 4096 16 15984 1000) (workload [client 3000 2 0, client 3000 2 0]) (program 1000) 9
      = some { observed := [[[3], [3]], [[4], [4]]], preemptions := 0 } := by decide +kernel

/-- Six requests, little memory, four slots. -/
theorem mixed_agrees :
    answer 2 (deployment 512 4 624 0)
        (workload [client 300 40 0, client 200 30 2, client 250 20 3, client 150 60 3, client 400 10 5,
          client 100 25 9]) (program 512) 105
      = some
        { observed := [[[1], [3], [33], [41], [53], [63]], [[40], [32], [52], [100], [62], [87]]]
          preemptions := 0 } := by decide +kernel

/-- Two slots for four requests. -/
theorem seqcap_agrees :
    answer 2 (deployment 1024 2 15984 0)
        (workload [client 1024 5 0, client 1024 5 0, client 1024 5 0, client 1024 5 0]) (program 1024) 18
      = some { observed := [[[1], [3], [7], [9]], [[5], [7], [11], [13]]], preemptions := 0 } := by
  decide +kernel

end Serq.Published
