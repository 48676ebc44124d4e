module

public import Serq.Model.Lists

/-!
# Expressions

Expressions over natural numbers, with the variables of the moment at which they are read: a session's
statement, an engine's chunk cap, its serving predicate, its cost. Subtraction stops at 0, division by 0 is
0, a truth value is 0 or 1.
-/

@[expose] public section

namespace Serq

/-- The operations on two numbers. `ceil a k` is `a / k` rounded up. -/
inductive Op
  | add | sub | mul | div | ceil | min | max
  | lt | le | eq | ne | and | or
  deriving DecidableEq, Repr

/-- The value of an operation. -/
def Op.eval : Op → Nat → Nat → Nat
  | .add, a, b => a + b
  | .sub, a, b => a - b
  | .mul, a, b => a * b
  | .div, a, b => a / b
  | .ceil, a, b => (a + b - 1) / b
  | .min, a, b => if a ≤ b then a else b
  | .max, a, b => if a ≤ b then b else a
  | .lt, a, b => if a < b then 1 else 0
  | .le, a, b => if a ≤ b then 1 else 0
  | .eq, a, b => if a = b then 1 else 0
  | .ne, a, b => if a = b then 0 else 1
  | .and, a, b => if a = 0 then 0 else if b = 0 then 0 else 1
  | .or, a, b => if a = 0 then (if b = 0 then 0 else 1) else 1

/-- An expression over variables of type `V`. -/
inductive Expr (V : Type)
  | lit (n : Nat)
  | var (v : V)
  | bin (op : Op) (a b : Expr V)
  | not (a : Expr V)
  | cond (test yes no : Expr V)
  deriving DecidableEq, Repr

namespace Expr

variable {V : Type}

/-- The value of an expression where variables are read by `read`. -/
def eval (read : V → Nat) : Expr V → Nat
  | lit n => n
  | var v => read v
  | bin op a b => op.eval (eval read a) (eval read b)
  | not a => if eval read a = 0 then 1 else 0
  | cond test yes no => if eval read test = 0 then eval read no else eval read yes

/-- Whether every variable of an expression satisfies `p`. -/
def all (p : V → Bool) : Expr V → Bool
  | lit _ => true
  | var v => p v
  | bin _ a b => all p a && all p b
  | not a => all p a
  | cond test yes no => all p test && all p yes && all p no

instance (n : Nat) : OfNat (Expr V) n := ⟨lit n⟩
instance : Add (Expr V) := ⟨bin .add⟩
instance : Sub (Expr V) := ⟨bin .sub⟩
instance : Mul (Expr V) := ⟨bin .mul⟩
instance : Div (Expr V) := ⟨bin .div⟩

/-- `a / k` rounded up. -/
def ceil (a k : Expr V) : Expr V := bin .ceil a k
/-- The lesser of two. -/
def min (a b : Expr V) : Expr V := bin .min a b
/-- The larger of two. -/
def max (a b : Expr V) : Expr V := bin .max a b
/-- `a < b`. -/
def lt (a b : Expr V) : Expr V := bin .lt a b
/-- `a ≤ b`. -/
def le (a b : Expr V) : Expr V := bin .le a b
/-- `a = b`. -/
def eq (a b : Expr V) : Expr V := bin .eq a b
/-- `a ≠ b`. -/
def ne (a b : Expr V) : Expr V := bin .ne a b
/-- Both are not 0. -/
def and (a b : Expr V) : Expr V := bin .and a b
/-- One is not 0. -/
def or (a b : Expr V) : Expr V := bin .or a b

end Expr

/-- What a session's expressions read. -/
inductive Var
  /-- An attribute of the session. -/
  | attr (slot : Nat)
  /-- The session's number. -/
  | serial
  /-- What the session's last admission consumed of a cached prefix. -/
  | cached
  | now
  /-- The session's own cached units in a pool. -/
  | cachedIn (pool : Nat)
  /-- The tokens of the iteration not given out yet. -/
  | budgetLeft
  deriving DecidableEq, Repr

/-- What a chunk cap reads, at the start of an iteration. -/
inductive ChunkVar
  | residents
  | queued (pool : Nat)
  deriving DecidableEq, Repr

/-- What the predicate on the residents an iteration serves reads, at a resident's turn. -/
inductive ServeVar
  | attr (slot : Nat)
  | decoding | admission | remaining | residents | decoders
  deriving DecidableEq, Repr

/-- What the cost of an iteration reads. `attention` is twice the attention work. -/
inductive CostVar
  | tokens | prefilled | decoders | kvDecode | attention
  deriving DecidableEq, Repr

/-- A session's environment. -/
structure Env where
  attrs : List Nat
  serial : Nat
  cached : Nat
  now : Nat
  cachedIn : Nat → Nat
  budgetLeft : Nat

/-- Reading a session variable. -/
def Env.read (e : Env) : Var → Nat
  | .attr slot => nth 0 slot e.attrs
  | .serial => e.serial
  | .cached => e.cached
  | .now => e.now
  | .cachedIn pool => e.cachedIn pool
  | .budgetLeft => e.budgetLeft

/-- The value of a session expression. -/
abbrev Expr.at (x : Expr Var) (e : Env) : Nat := x.eval e.read

/-- Whether a variable keeps its value while the session waits. -/
def Var.lasts : Var → Bool
  | .attr _ | .serial | .cached => true
  | .now | .cachedIn _ | .budgetLeft => false

end Serq
