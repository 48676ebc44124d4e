module

public import Serq.Theorems.Runs.Request

/-!
# The recorded trace `14_no_full_isl`

Five requests admitted without a reservation of their whole prompt, with thirteen preemptions: step by step,
the machine does what the scheduler of vLLM v1 was recorded to do.
-/

@[expose] public section

namespace Serq.Trace14

open Request

def engine : Deployment := deployment 32 8 144 24

def requests : Workload := workload [
  client 60 12 1,
  client 60 24 4,
  client 60 12 0,
  client 30 6 1,
  client 90 6 5]

/-- The steps of the machine that start within `[a, b)`. -/
abbrev within (a b : Nat) : Option (List Step) := stepsWithin engine requests (unreserved 24) a b

theorem steps_0_to_10_agree : within 0 11 = some [
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
    { start := 10, tokens := [(2, 1), (0, 24), (3, 7)],
      allocated := 128, admitted := [0, 3], resumed := [0, 3] }] := by
  decide +kernel

theorem steps_11_to_21_agree : within 11 22 = some [
    { start := 11, tokens := [(2, 1), (0, 24), (3, 7)], allocated := 144 },
    { start := 12, tokens := [(2, 1)], allocated := 80, preempted := [3, 0] },
    { start := 13, tokens := [(2, 1), (0, 24), (3, 7)],
      allocated := 128, admitted := [0, 3], resumed := [0, 3], finished := [2] },
    { start := 14, tokens := [(0, 24), (3, 8)], allocated := 64 },
    { start := 15, tokens := [(0, 17), (3, 15)], allocated := 112 },
    { start := 16, tokens := [(0, 1), (3, 1), (1, 24)], allocated := 144, admitted := [1] },
    { start := 17, tokens := [(0, 1), (3, 1)], allocated := 112, preempted := [1] },
    { start := 18, tokens := [(0, 1), (3, 1)], allocated := 128 },
    { start := 19, tokens := [(0, 1), (3, 1)], allocated := 128 },
    { start := 20, tokens := [(0, 1), (3, 1)], allocated := 128, finished := [3] },
    { start := 21, tokens := [(0, 1), (1, 24), (4, 7)],
      allocated := 128, admitted := [1, 4], resumed := [1], finished := [0] }] := by
  decide +kernel

theorem steps_22_to_32_agree : within 22 33 = some [
    { start := 22, tokens := [(1, 24), (4, 8)], allocated := 64 },
    { start := 23, tokens := [(1, 12), (4, 20)], allocated := 112 },
    { start := 24, tokens := [(1, 1), (4, 24)], allocated := 128 },
    { start := 25, tokens := [(1, 1)], allocated := 64, preempted := [4] },
    { start := 26, tokens := [(1, 1), (4, 24)], allocated := 96, admitted := [4], resumed := [4] },
    { start := 27, tokens := [(1, 1), (4, 24)], allocated := 112 },
    { start := 28, tokens := [(1, 1)], allocated := 80, preempted := [4] },
    { start := 29, tokens := [(1, 1), (4, 24)], allocated := 112, admitted := [4], resumed := [4] },
    { start := 30, tokens := [(1, 1), (4, 24)], allocated := 128 },
    { start := 31, tokens := [(1, 1)], allocated := 80, preempted := [4] },
    { start := 32, tokens := [(1, 1), (4, 24)],
      allocated := 112, admitted := [4], resumed := [4] }] := by
  decide +kernel

theorem steps_33_to_43_agree : within 33 44 = some [
    { start := 33, tokens := [(1, 1), (4, 24)], allocated := 128 },
    { start := 34, tokens := [(1, 1)], allocated := 80, preempted := [4] },
    { start := 35, tokens := [(1, 1), (4, 24)], allocated := 112, admitted := [4], resumed := [4] },
    { start := 36, tokens := [(1, 1), (4, 24)], allocated := 128 },
    { start := 37, tokens := [(1, 1)], allocated := 80, preempted := [4] },
    { start := 38, tokens := [(1, 1), (4, 24)], allocated := 112, admitted := [4], resumed := [4] },
    { start := 39, tokens := [(1, 1), (4, 24)], allocated := 128 },
    { start := 40, tokens := [(1, 1)], allocated := 80, preempted := [4] },
    { start := 41, tokens := [(1, 1), (4, 24)], allocated := 112, admitted := [4], resumed := [4] },
    { start := 42, tokens := [(1, 1), (4, 24)], allocated := 128 },
    { start := 43, tokens := [(1, 1)], allocated := 80, preempted := [4] }] := by
  decide +kernel

theorem steps_44_to_54_agree : within 44 55 = some [
    { start := 44, tokens := [(1, 1), (4, 24)], allocated := 128, admitted := [4], resumed := [4] },
    { start := 45, tokens := [(1, 1), (4, 24)], allocated := 144 },
    { start := 46, tokens := [(1, 1)], allocated := 96, preempted := [4], finished := [1] },
    { start := 47, tokens := [(4, 32)], allocated := 32, admitted := [4], resumed := [4] },
    { start := 48, tokens := [(4, 32)], allocated := 64 },
    { start := 49, tokens := [(4, 26)], allocated := 96 },
    { start := 50, tokens := [(4, 1)], allocated := 96 },
    { start := 51, tokens := [(4, 1)], allocated := 96 },
    { start := 52, tokens := [(4, 1)], allocated := 96 },
    { start := 53, tokens := [(4, 1)], allocated := 96 },
    { start := 54, tokens := [(4, 1)], allocated := 96, finished := [4] }] := by
  decide +kernel

end Serq.Trace14
