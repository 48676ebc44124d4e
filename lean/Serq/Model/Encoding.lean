module

public import Serq.Model.Run

/-!
# Programs as numbers

How the executable reads a program: a JSON array of natural numbers, in which every choice is a number, an
optional part is 0, or 1 and the part, and a list is its length and its items. `serq lean encode` writes it.
Everything here is structural recursion, so that the kernel can read a program, too.
-/

@[expose] public section

namespace Serq.Encoding

/-- What is read, and the numbers that are left. -/
abbrev Read (α : Type) := List Nat → Option (α × List Nat)

/-- A number. -/
def number : Read Nat
  | [] => none
  | n :: rest => some (n, rest)

/-- Two parts, one after the other. -/
def both {α β : Type} (first : Read α) (second : Read β) : Read (α × β) := fun numbers =>
  match first numbers with
  | none => none
  | some (a, rest) =>
    match second rest with
    | none => none
    | some (b, rest) => some ((a, b), rest)

/-- A part of another form. -/
def as {α β : Type} (make : α → β) (read : Read α) : Read β := fun numbers =>
  match read numbers with
  | none => none
  | some (a, rest) => some (make a, rest)

/-- So many items. -/
def items {α : Type} (item : Read α) : Nat → Read (List α)
  | 0 => fun numbers => some ([], numbers)
  | n + 1 => as (fun p : α × List α => p.1 :: p.2) (both item (items item n))

/-- A list: its length and its items. -/
def list {α : Type} (item : Read α) : Read (List α)
  | [] => none
  | n :: rest => items item n rest

/-- A part that may be left out. -/
def optional {α : Type} (part : Read α) : Read (Option α)
  | 0 :: rest => some (none, rest)
  | 1 :: rest => as some part rest
  | _ => none

/-- A truth value. -/
def truth : Read Bool
  | 0 :: rest => some (false, rest)
  | 1 :: rest => some (true, rest)
  | _ => none

/-- An operation. -/
def operation : Nat → Option Op
  | 0 => some .add
  | 1 => some .sub
  | 2 => some .mul
  | 3 => some .div
  | 4 => some .ceil
  | 5 => some .min
  | 6 => some .max
  | 7 => some .lt
  | 8 => some .le
  | 9 => some .eq
  | 10 => some .ne
  | 11 => some .and
  | 12 => some .or
  | _ => none

/-- An expression, whose nesting is at most the fuel. -/
def expression {V : Type} (variable_ : Read V) : Nat → Read (Expr V)
  | 0 => fun _ => none
  | fuel + 1 => fun
    | 0 :: rest => as .lit number rest
    | 1 :: rest => as .var variable_ rest
    | 2 :: rest => as .not (expression variable_ fuel) rest
    | 3 :: rest =>
      as (fun p => .cond p.1 p.2.1 p.2.2)
        (both (expression variable_ fuel) (both (expression variable_ fuel) (expression variable_ fuel))) rest
    | 4 :: op :: rest =>
      match operation op with
      | none => none
      | some op => as (fun p => .bin op p.1 p.2) (both (expression variable_ fuel) (expression variable_ fuel)) rest
    | _ => none

/-- What a session's expressions read. -/
def sessionVariable : Read Var
  | 0 :: slot :: rest => some (.attr slot, rest)
  | 1 :: rest => some (.serial, rest)
  | 2 :: rest => some (.cached, rest)
  | 3 :: rest => some (.now, rest)
  | 4 :: pool :: rest => some (.cachedIn pool, rest)
  | 5 :: rest => some (.budgetLeft, rest)
  | _ => none

/-- What a chunk cap reads. -/
def chunkVariable : Read ChunkVar
  | 0 :: rest => some (.residents, rest)
  | 1 :: pool :: rest => some (.queued pool, rest)
  | _ => none

/-- What the predicate of an iteration reads. -/
def serveVariable : Read ServeVar
  | 0 :: slot :: rest => some (.attr slot, rest)
  | 1 :: rest => some (.decoding, rest)
  | 2 :: rest => some (.admission, rest)
  | 3 :: rest => some (.remaining, rest)
  | 4 :: rest => some (.residents, rest)
  | 5 :: rest => some (.decoders, rest)
  | _ => none

/-- What a cost reads. -/
def costVariable : Read CostVar
  | 0 :: rest => some (.tokens, rest)
  | 1 :: rest => some (.prefilled, rest)
  | 2 :: rest => some (.decoders, rest)
  | 3 :: rest => some (.kvDecode, rest)
  | 4 :: rest => some (.attention, rest)
  | _ => none

/-- More than the nesting of any program. -/
def depth : Nat := 1000

/-- A session's expression. -/
def value : Read (Expr Var) := expression sessionVariable depth

/-- Where a run happens. -/
def place : Read Place
  | 0 :: rest => some (.delay, rest)
  | 1 :: rest => as .prefill truth rest
  | 2 :: rest => as .decode truth rest
  | _ => none

/-- What a hold takes of a pool. -/
def need : Read Need :=
  as (fun p => { pool := p.1, units := p.2.1, reserve := p.2.2 }) (both number (both value value))

/-- A hold's clauses. -/
def header : Read Header :=
  as (fun p => { needs := p.1, reuse := p.2.1, cache := p.2.2 })
    (both (list need) (both (optional value) (optional value)))

/-- A session program, of at most so many statements in a row and in each other. -/
def code : Nat → Read Code
  | 0 => fun _ => none
  | fuel + 1 => fun
    | 0 :: rest => some (.done, rest)
    | 1 :: rest => some (.finish, rest)
    | 2 :: rest => as (fun p => .set p.1 p.2.1 p.2.2) (both number (both value (code fuel))) rest
    | 3 :: rest => as (fun p => .observe p.1 p.2.1 p.2.2) (both number (both value (code fuel))) rest
    | 4 :: rest => as .turn (code fuel) rest
    | 5 :: rest =>
      as (fun p => .branch p.1 p.2.1 p.2.2.1 p.2.2.2)
        (both value (both (code fuel) (both (code fuel) (code fuel)))) rest
    | 6 :: rest => as .loop (code fuel) rest
    | 7 :: rest => as (fun p => .while p.1 p.2.1 p.2.2) (both value (both (code fuel) (code fuel))) rest
    | 8 :: rest => as (fun p => .run p.1 p.2.1 p.2.2) (both place (both value (code fuel))) rest
    | 9 :: rest => as (fun p => .hold p.1 p.2.1 p.2.2) (both header (both (code fuel) (code fuel))) rest
    | _ => none

/-- A pool. -/
def pool : Read PoolSpec :=
  as (fun p => { cap := p.1, block := p.2.1, byEngine := p.2.2.1, key := p.2.2.2 })
    (both number (both number (both truth (optional value))))

/-- A deployment. -/
def deployment : Read Deployment :=
  as (fun p =>
      { pools := p.1, budget := p.2.1, chunk := p.2.2.1, memory := p.2.2.2.1, cost := p.2.2.2.2.1
        only := p.2.2.2.2.2 })
    (both (list pool) (both number (both (expression chunkVariable depth) (both (optional number)
      (both (expression costVariable depth) (optional (expression serveVariable depth)))))))

/-- Values of slots. -/
def values : Read (List (Nat × Nat)) := list (both number number)

/-- A session. -/
def client : Read Client := as (fun p => { presets := p.1, turns := p.2 }) (both values (list values))

/-- A workload. -/
def workload : Read Workload :=
  as (fun p =>
      { clients := p.1, turnSlot := p.2.1, moreSlot := p.2.2.1, computedSlot := p.2.2.2.1
        arrivalSlot := p.2.2.2.2 })
    (both (list client) (both (optional number) (both (optional number) (both (optional number)
      (optional number)))))

/-- Everything a run needs: the observed names, the horizon, the deployment, the workload, the program. -/
structure Task where
  names : Nat
  horizon : Nat
  deployment : Deployment
  workload : Workload
  program : Code
  deriving DecidableEq, Repr

/-- A task. -/
def task : Read Task :=
  as (fun p =>
      { names := p.1, horizon := p.2.1, deployment := p.2.2.1, workload := p.2.2.2.1, program := p.2.2.2.2 })
    (both number (both number (both deployment (both workload (code depth)))))

/-- The digit that a character is. -/
def digit (c : Char) : Option Nat :=
  if 48 ≤ c.toNat then (if c.toNat ≤ 57 then some (c.toNat - 48) else none) else none

/-- The numbers in a text, whatever stands between them; `current` is the one being read. -/
def numbers (current : Option Nat) : List Char → List Nat
  | [] =>
    match current with
    | none => []
    | some n => [n]
  | c :: rest =>
    match digit c, current with
    | some d, none => numbers (some d) rest
    | some d, some n => numbers (some (10 * n + d)) rest
    | none, none => numbers none rest
    | none, some n => n :: numbers none rest

/-- A task from a text, if the text is one and no more. -/
def read (text : List Char) : Option Task :=
  match task (numbers none text) with
  | some (t, []) => some t
  | _ => none

end Serq.Encoding
