module

public import Serq.Theorems.Reaching

/-!
# The memory invariant needs its condition

A session may be admitted with fewer units than the prefix it consumes. Preempted before it has grown, it
caches its whole position, more than it frees; and if the session that wanted to grow is the next victim,
nothing evicts. A pool of 160 units then has 112 allocated and 64 cached.
-/

@[expose] public section

namespace Serq.MemoryNeedsCover

/-- A hold of so many units of the memory. -/
def units (n : Nat) : Header := { needs := [{ pool := 0, units := .lit n }] }

/-- Session 0 leaves 64 units cached and comes back with 16 units for the whole prefix. -/
def returning : Code :=
  .hold { units 64 with cache := some 64 } .done <|
  .run .delay 1 <|
  .hold { units 16 with cache := some 64 } (.run (.prefill true) 10 .done) <|
  .finish

/-- Session 1 was admitted before and grows. -/
def growing : Code :=
  .run .delay 1 <|
  .hold (units 16) (.run (.prefill true) 100 .done) <|
  .finish

/-- Session 2 holds 112 units without computing. -/
def idle : Code :=
  .hold (units 0) .done <|
  .run .delay 1 <|
  .hold (units 112) (.run .delay 10 .done) <|
  .finish

def program : Code :=
  .branch (.eq (.var .serial) 0) returning (.branch (.eq (.var .serial) 1) growing idle .finish) .finish

def deployment : Deployment where
  pools := [{ cap := 160, block := 16 }]
  budget := 100
  memory := some 0

def workload : Workload where
  clients := [{}, {}, {}]

/-- What a pool has allocated and cached. -/
def memory (m : Machine) : Nat × Nat := ((m.state.pool 0).allocated, (m.state.pool 0).cached)

theorem memory_overflows :
    (run deployment workload program 1).map memory = some (112, 64) := by decide +kernel

/-- **Without the condition the memory invariant is false.** -/
theorem allocated_and_cached_may_exceed_capacity : ∃ m, Reach deployment workload program m ∧
    (deployment.pool 0).cap < (m.state.pool 0).allocated + (m.state.pool 0).cached := by
  have h := memory_overflows
  cases hr : run deployment workload program 1 with
  | none => simp [hr] at h
  | some m =>
    refine ⟨m, run_reaches hr, ?_⟩
    simp only [hr, Option.map_some, Option.some.injEq, memory, Prod.mk.injEq] at h
    rw [h.1, h.2]
    decide

end Serq.MemoryNeedsCover
