module

public import Serq.Model.Parts
public import Serq.Model.Fragment
public import Serq.Model.Run

/-!
# Claims

What a program claims about the runs of a family of workloads: of every iteration, of some iteration, or of
the values observed when all its sessions have ended.
-/

@[expose] public section

namespace Serq

/-- A family of workloads. -/
abbrev Family := Workload → Prop

/-- The record of the running iteration, if one is running. -/
def Machine.current (m : Machine) : Option Iteration :=
  match m.running, m.log with
  | some _, r :: _ => some r
  | _, _ => none

/-- Whether every session has ended. -/
def Machine.over (m : Machine) : Bool :=
  m.state.sessions.all fun s => match s.status with
    | .ended => true
    | _ => false

/-- Every iteration of every run of the family satisfies `q`. -/
def EveryIteration (d : Deployment) (W : Family) (program : Code) (q : Iteration → Prop) : Prop :=
  ∀ w, W w → ∀ m, Reach d w program m → ∀ r, m.current = some r → q r

/-- Some iteration of some run of the family satisfies `q`. -/
def SomeIteration (d : Deployment) (W : Family) (program : Code) (q : Iteration → Prop) : Prop :=
  ∃ w, W w ∧ ∃ m, Reach d w program m ∧ ∃ r, m.current = some r ∧ q r

/-- Whenever all sessions of a run of the family have ended, `q` holds of the machine. -/
def AtEnd (d : Deployment) (W : Family) (program : Code) (q : Machine → Prop) : Prop :=
  ∀ w, W w → ∀ m, Reach d w program m → m.over = true → q m

/-! ## Families of sessions that arrive -/

/-- The most sessions of a workload of which a claim speaks. -/
def mostSessions : Nat := 500

/-- Every session of a list may stand at its place; `i` is the place of the first. -/
def AllMay (may : Nat → Client → Prop) : Nat → List Client → Prop
  | _, [] => True
  | i, c :: cs => may i c ∧ AllMay may (i + 1) cs

/-- The workloads with so many sessions as `many` allows, each of them one that may stand at its place; the
machine's slots are those of `slots`. -/
def sessionsThat (may : Nat → Client → Prop) (many : Nat → Prop) (slots : Workload) : Family := fun w =>
  w = { slots with clients := w.clients } ∧ many w.clients.length ∧ AllMay may 0 w.clients

/-- Whether a run comes to an end, with every session ended. -/
def comesToAnEnd (d : Deployment) (w : Workload) (program : Code) (horizon : Nat) : Bool :=
  match run d w program horizon with
  | none => false
  | some m => m.over

/-! ## What an end claim reads -/

/-- The values observed under a name, whoever observed them; `seen` is what came later. -/
def valuesNamed (name : Nat) (seen : List Nat) : List Observation → List Nat
  | [] => seen
  | o :: more =>
    if o.name = name then valuesNamed name (o.value :: seen) more else valuesNamed name seen more

/-- The values observed under a name, in order. -/
def Machine.values (m : Machine) (name : Nat) : List Nat := valuesNamed name [] m.state.observations

/-- The sum of the values of a name. -/
def Machine.total (m : Machine) (name : Nat) : Nat := sumOf id (m.values name)

/-- How many values of a name there are. -/
def Machine.count (m : Machine) (name : Nat) : Nat := (m.values name).length

/-- Inserts a number into an ascending list. -/
def insertSorted (n : Nat) : List Nat → List Nat
  | [] => [n]
  | m :: l => if n ≤ m then n :: m :: l else m :: insertSorted n l

/-- The list in ascending order. -/
def sorted : List Nat → List Nat
  | [] => []
  | n :: l => insertSorted n (sorted l)

/-- The sum of the sums of all prefixes. -/
def prefixSums : List Nat → Nat
  | [] => 0
  | n :: l => n * (l.length + 1) + prefixSums l

/-- The prefix total of values: in ascending order, the sum of the sums of all prefixes. -/
def prefixTotal (values : List Nat) : Nat := prefixSums (sorted values)

/-! ## Membership -/

/-- Each token takes time, be it of a prefill or of a decode. -/
def Deployment.tokensTakeTime (d : Deployment) : Bool :=
  let lone (decode : Bool) : CostVar → Nat
    | .tokens => 1
    | .prefilled => if decode then 0 else 1
    | .decoders => if decode then 1 else 0
    | .kvDecode => 0
    | .attention => 0
  0 < d.cost.eval (lone false) && 0 < d.cost.eval (lone true)

/-- A program that claims something belongs to the fragment: as any other, but its cost needs no constant part
where it never grows a hold and each token takes time, because no iteration starts without a token then. -/
structure MayClaim (d : Deployment) (w : Workload) (c : Code) : Prop where
  program : InFragment { d with cost := 1 + d.cost } w c
  time : (0 < d.cost.eval fun _ => 0) ∨ (c.neverGrows = true ∧ d.tokensTakeTime = true)

instance (d : Deployment) (w : Workload) (c : Code) : Decidable (MayClaim d w c) :=
  if h : InFragment { d with cost := 1 + d.cost } w c ∧
      ((0 < d.cost.eval fun _ => 0) ∨ (c.neverGrows = true ∧ d.tokensTakeTime = true)) then
    isTrue ⟨h.1, h.2⟩
  else isFalse fun k => h ⟨k.program, k.time⟩

end Serq
