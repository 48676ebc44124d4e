module

public import Serq.Model.Machine

/-!
# Runs

A program run to its end, what it observed, and its iterations, in the form in which recorded answers and
recorded traces are stated.
-/

@[expose] public section

namespace Serq

/-- The time of the next event. -/
def Machine.next (m : Machine) : Option Nat :=
  match m.running, m.state.delays with
  | none, [] => none
  | some r, [] => some r.until_
  | none, e :: _ => some e.time
  | some r, e :: _ => some (if e.time ≤ r.until_ then e.time else r.until_)

/-- Takes every event up to a horizon. Fails on a fault, or after `n` events. -/
def runFrom (d : Deployment) (w : Workload) (horizon : Nat) : Nat → Machine → Option Machine
  | 0, _ => none
  | n + 1, m =>
    match m.next with
    | none => some m
    | some t =>
      if t ≤ horizon then
        match step d w m with
        | none => none
        | some m' => runFrom d w horizon n m'
      else some m

/-- The machine a program leaves at a horizon. -/
def run (d : Deployment) (w : Workload) (program : Code) (horizon : Nat) : Option Machine :=
  match start d w program with
  | none => none
  | some m => runFrom d w horizon fuel m

/-- The values a session observed under a name, in order; `seen` is what came later. -/
def valuesOf (name i : Nat) (seen : List Nat) : List Observation → List Nat
  | [] => seen
  | o :: more =>
    if o.name = name then
      if o.session = i then valuesOf name i (o.value :: seen) more else valuesOf name i seen more
    else valuesOf name i seen more

/-- The values observed under a name, session by session. -/
def Machine.observed (m : Machine) (name : Nat) : List (List Nat) :=
  (List.range m.state.sessions.length).map fun i => valuesOf name i [] m.state.observations

/-- What is compared of a whole run: the values observed under each name, and the number of preemptions. -/
structure Answer where
  observed : List (List (List Nat))
  preemptions : Nat
  deriving DecidableEq, Repr

/-- The answer of a run for the names below `names`. -/
def answer (names : Nat) (d : Deployment) (w : Workload) (program : Code) (horizon : Nat) : Option Answer :=
  match run d w program horizon with
  | none => none
  | some m => some { observed := (List.range names).map m.observed, preemptions := m.state.preemptions }

/-- What is compared of an iteration: the step it is, the tokens of each session in serving order, the
sessions admitted (of those the resumed ones), preempted and finished, and the units allocated in the memory
after it was planned. -/
structure Step where
  start : Nat
  tokens : List (Nat × Nat)
  admitted : List Nat := []
  resumed : List Nat := []
  preempted : List Nat := []
  finished : List Nat := []
  allocated : Nat
  deriving DecidableEq, Repr

/-- An iteration's step, with pool `memory`. -/
def Iteration.step (memory : Nat) (r : Iteration) : Step where
  start := r.start
  tokens := r.batch.map fun g => (g.owner, g.tokens)
  admitted := r.admitted
  resumed := r.resumed
  preempted := r.preempted
  finished := r.finished
  allocated := nth 0 memory r.allocated

/-- The steps of a log, in order of time; `later` is what follows. -/
def stepsOf (memory : Nat) (later : List Step) : List Iteration → List Step
  | [] => later
  | r :: more => stepsOf memory (r.step memory :: later) more

/-- The steps of a run. -/
def steps (d : Deployment) (w : Workload) (program : Code) (horizon : Nat) : Option (List Step) :=
  match run d w program horizon with
  | none => none
  | some m => some (stepsOf (d.memory.getD 0) [] m.log)

/-- The steps that start within `[a, b)`, with what ended by `b`. A recorded trace is stated window by
window, so that one that is off says where. -/
def stepsWithin (d : Deployment) (w : Workload) (program : Code) (a b : Nat) : Option (List Step) :=
  match steps d w program b with
  | none => none
  | some l => some (l.filter fun s => a ≤ s.start && s.start < b)

end Serq
