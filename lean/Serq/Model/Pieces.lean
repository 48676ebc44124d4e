module

public import Serq.Model.Run

/-!
# Runs in pieces

A long run is evaluated piece by piece: each starts from the machine the one before has left, written out, and
gives the steps of its time. A piece keeps only the newest iteration on record, the one that finished
sessions may still be noted with.
-/

@[expose] public section

namespace Serq

/-- A machine with older iterations on record below its own. -/
def Machine.onto (older : List Iteration) (m : Machine) : Machine := { m with log := m.log ++ older }

/-- What a piece gives: the machine with only its newest iteration on record, and the steps that started within
`[a, b)`. None without an iteration on record, or where an older one did not start before `b`. -/
def pieceOf (memory a b : Nat) (m : Machine) : Option (Machine × List Step) :=
  match m.log with
  | [] => none
  | r :: older =>
    if older.all fun o => o.start < b then
      some ({ m with log := [r] },
        (stepsOf memory [] (r :: older)).filter fun s => a ≤ s.start && s.start < b)
    else none

/-- The piece of a run from a machine at time `a` to time `b`, of at most `n` events. -/
def piece (d : Deployment) (w : Workload) (a b n : Nat) (m : Machine) : Option (Machine × List Step) :=
  match runFrom d w b n m with
  | none => none
  | some m' => pieceOf (d.memory.getD 0) a b m'

/-- The first piece of a run, to time `b`. -/
def firstPiece (d : Deployment) (w : Workload) (program : Code) (b n : Nat) : Option (Machine × List Step) :=
  match start d w program with
  | none => none
  | some m => piece d w 0 b n m

/-- At time `a`, after at most `n` events, a program's run is at a machine, with older iterations on record
that started before `a`. -/
def Passes (d : Deployment) (w : Workload) (program : Code) (a n : Nat) (m : Machine) : Prop :=
  m.log ≠ [] ∧ ∃ first older, start d w program = some first ∧
    runFrom d w a n first = some (m.onto older) ∧ ∀ o ∈ older, o.start < a

end Serq
