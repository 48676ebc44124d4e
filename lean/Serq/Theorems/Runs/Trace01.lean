module

public import Serq.Theorems.Runs.Request

/-!
# The recorded trace `01_published`

Step by step, the tokens of every request, the admissions, the resumptions, the preemptions, the ends and
the allocated memory are those recorded from the scheduler of vLLM v1.
-/

@[expose] public section

namespace Serq.Trace01

open Request

def engine : Deployment := deployment 32 8 144 24

def requests : Workload := workload [
  client 60 12 1,
  client 60 24 4,
  client 60 12 0,
  client 30 6 1]

/-- The steps of the machine that start within `[a, b)`. -/
abbrev within (a b : Nat) : Option (List Step) := stepsWithin engine requests (program 24) a b

theorem steps_0_to_11_agree : within 0 12 = some [
    { start := 0, tokens := [(2, 32)], allocated := 32, admitted := [2] },
    { start := 1, tokens := [(2, 24), (0, 8)], allocated := 80, admitted := [0] },
    { start := 2, tokens := [(2, 4), (0, 24), (3, 4)], allocated := 112, admitted := [3] },
    { start := 3, tokens := [(2, 1), (0, 24), (3, 7)], allocated := 144 },
    { start := 4, tokens := [(2, 1), (0, 4)], allocated := 128, preempted := [3] },
    { start := 5, tokens := [(2, 1), (0, 1)], allocated := 128 },
    { start := 6, tokens := [(2, 1), (0, 1)], allocated := 128 },
    { start := 7, tokens := [(2, 1), (0, 1)], allocated := 144 },
    { start := 8, tokens := [(2, 1), (0, 1)], allocated := 144 },
    { start := 9, tokens := [(2, 1)], allocated := 80, preempted := [0] },
    { start := 10, tokens := [(2, 1)], allocated := 80 },
    { start := 11, tokens := [(2, 1)], allocated := 80 }] := by
  decide +kernel

theorem steps_12_to_23_agree : within 12 24 = some [
    { start := 12, tokens := [(2, 1)], allocated := 80 },
    { start := 13, tokens := [(2, 1)], allocated := 80, finished := [2] },
    { start := 14, tokens := [(0, 24), (3, 8)], allocated := 48, admitted := [0, 3], resumed := [0, 3] },
    { start := 15, tokens := [(0, 24), (3, 8)], allocated := 64 },
    { start := 16, tokens := [(0, 17), (3, 14)], allocated := 112 },
    { start := 17, tokens := [(0, 1), (3, 1)], allocated := 112 },
    { start := 18, tokens := [(0, 1), (3, 1)], allocated := 112 },
    { start := 19, tokens := [(0, 1), (3, 1)], allocated := 128 },
    { start := 20, tokens := [(0, 1), (3, 1)], allocated := 128 },
    { start := 21, tokens := [(0, 1), (3, 1)], allocated := 128, finished := [3] },
    { start := 22, tokens := [(0, 1), (1, 24)], allocated := 112, admitted := [1], finished := [0] },
    { start := 23, tokens := [(1, 32)], allocated := 64 }] := by
  decide +kernel

theorem steps_24_to_35_agree : within 24 36 = some [
    { start := 24, tokens := [(1, 4)], allocated := 64 },
    { start := 25, tokens := [(1, 1)], allocated := 64 },
    { start := 26, tokens := [(1, 1)], allocated := 64 },
    { start := 27, tokens := [(1, 1)], allocated := 64 },
    { start := 28, tokens := [(1, 1)], allocated := 64 },
    { start := 29, tokens := [(1, 1)], allocated := 80 },
    { start := 30, tokens := [(1, 1)], allocated := 80 },
    { start := 31, tokens := [(1, 1)], allocated := 80 },
    { start := 32, tokens := [(1, 1)], allocated := 80 },
    { start := 33, tokens := [(1, 1)], allocated := 80 },
    { start := 34, tokens := [(1, 1)], allocated := 80 },
    { start := 35, tokens := [(1, 1)], allocated := 80 }] := by
  decide +kernel

theorem steps_36_to_47_agree : within 36 48 = some [
    { start := 36, tokens := [(1, 1)], allocated := 80 },
    { start := 37, tokens := [(1, 1)], allocated := 80 },
    { start := 38, tokens := [(1, 1)], allocated := 80 },
    { start := 39, tokens := [(1, 1)], allocated := 80 },
    { start := 40, tokens := [(1, 1)], allocated := 80 },
    { start := 41, tokens := [(1, 1)], allocated := 80 },
    { start := 42, tokens := [(1, 1)], allocated := 80 },
    { start := 43, tokens := [(1, 1)], allocated := 80 },
    { start := 44, tokens := [(1, 1)], allocated := 80 },
    { start := 45, tokens := [(1, 1)], allocated := 96 },
    { start := 46, tokens := [(1, 1)], allocated := 96 },
    { start := 47, tokens := [(1, 1)], allocated := 96, finished := [1] }] := by
  decide +kernel

end Serq.Trace01
