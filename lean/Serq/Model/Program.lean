module

public import Serq.Model.Expr

/-!
# Programs, deployments, workloads

What a run is given and never changes: the session program as a tree in which each statement carries what
follows it, the pools and the engine, and the sessions with their preset attributes and turns.
-/

@[expose] public section

namespace Serq

/-- What a hold takes of one pool: so many units, while so many would fit. -/
structure Need where
  pool : Nat
  units : Expr Var
  reserve : Expr Var := 0
  deriving DecidableEq, Repr

/-- A hold's clauses. It waits in the queue of its first pool. -/
structure Header where
  needs : List Need
  /-- The most of a cached prefix an admission may consume; all of it when absent. -/
  reuse : Option (Expr Var) := none
  /-- How much of the computed prefix stays cached at release; nothing when absent. -/
  cache : Option (Expr Var) := none
  deriving DecidableEq, Repr

/-- Where a run happens; an engine run may grow the session's hold of the engine's memory. -/
inductive Place
  | delay
  | prefill (grows : Bool)
  | decode (grows : Bool)
  deriving DecidableEq, Repr

/-- A session program: a statement and what follows it. -/
inductive Code
  /-- The end of a block. -/
  | done
  /-- The end of the session. -/
  | finish
  | set (slot : Nat) (value : Expr Var) (next : Code)
  | observe (name : Nat) (value : Expr Var) (next : Code)
  | turn (next : Code)
  | branch (test : Expr Var) (yes no next : Code)
  | loop (body : Code)
  | while (test : Expr Var) (body next : Code)
  | run (place : Place) (work : Expr Var) (next : Code)
  | hold (header : Header) (body next : Code)
  deriving DecidableEq, Repr

/-- A pool: its capacity, the size of a block (1 without blocks), whether the engine admits its queue, and
the key of its queue (first in, first out when absent). -/
structure PoolSpec where
  cap : Nat
  block : Nat := 1
  byEngine : Bool := false
  key : Option (Expr Var) := none
  deriving DecidableEq, Repr

/-- The pools and the engine. -/
structure Deployment where
  pools : List PoolSpec
  /-- The tokens of an iteration. -/
  budget : Nat
  /-- The most tokens a prefill gets in an iteration; 0 is no limit. -/
  chunk : Expr ChunkVar := 0
  /-- The pool that engine runs grow. -/
  memory : Option Nat := none
  /-- The time of an iteration, at least 1. -/
  cost : Expr CostVar := 1
  /-- The residents an iteration may serve; all of them when absent. -/
  only : Option (Expr ServeVar) := none
  deriving DecidableEq, Repr

/-- What a session starts with: its attributes as (slot, value), and its turns, each a list of
such values. -/
structure Client where
  presets : List (Nat × Nat) := []
  turns : List (List (Nat × Nat)) := []
  deriving DecidableEq, Repr

/-- The sessions, and the slots the machine itself writes or reads. -/
structure Workload where
  clients : List Client
  turnSlot : Option Nat := none
  moreSlot : Option Nat := none
  computedSlot : Option Nat := none
  arrivalSlot : Option Nat := none
  deriving DecidableEq, Repr

/-- A pool of a deployment. -/
def Deployment.pool (d : Deployment) (p : Nat) : PoolSpec := nth { cap := 0 } p d.pools

/-- The size of a pool's block, at least 1. -/
def Deployment.block (d : Deployment) (p : Nat) : Nat :=
  match (d.pool p).block with
  | 0 => 1
  | b + 1 => b + 1

/-- Up to whole blocks. -/
def roundUp (b n : Nat) : Nat := (n + b - 1) / b * b

/-- Down to whole blocks. -/
def roundDown (b n : Nat) : Nat := n / b * b

end Serq
