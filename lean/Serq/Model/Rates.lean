module

public import Serq.Model.Lists

/-!
# Rates of stages

How a stage divides what it can do among the jobs in it. A serial stage works on the first jobs, one a server,
and the others wait; a shared stage gives every job the same part of a capacity, which may depend on how many
there are. A delay is a shared stage whose capacity is the number of jobs.
-/

@[expose] public section

namespace Serq.Rates

/-- What is done at once, job by job: the sum of the rates. -/
def total : List Rat → Rat
  | [] => 0
  | r :: rs => r + total rs

/-- The rates of `jobs` jobs at a serial stage, in the order of their arrival: 1 for as many as there are
servers, 0 for the rest. -/
def serial : (servers jobs : Nat) → List Rat
  | _, 0 => []
  | 0, n + 1 => 0 :: serial 0 n
  | s + 1, n + 1 => 1 :: serial s n

/-- The same rate for so many jobs. -/
def each (rate : Rat) : Nat → List Rat
  | 0 => []
  | n + 1 => rate :: each rate n

/-- The rates of `jobs` jobs at a shared stage: equal parts of its capacity for so many jobs. -/
def shared (capacity : Nat → Rat) (jobs : Nat) : List Rat := each (capacity jobs / jobs) jobs

end Serq.Rates
