module

/-!
# Lists

The list operations the model is written with: reading and writing by index. They are plain structural
recursion, so the kernel evaluates them.
-/

@[expose] public section

namespace Serq

/-- The element at an index, or `d` beyond the end. -/
def nth {α : Type} (d : α) : Nat → List α → α
  | _, [] => d
  | 0, a :: _ => a
  | n + 1, _ :: l => nth d n l

/-- The list with the element at an index replaced; unchanged beyond the end. -/
def put {α : Type} (b : α) : Nat → List α → List α
  | _, [] => []
  | 0, _ :: l => b :: l
  | n + 1, a :: l => a :: put b n l

/-- A store of numbers in which everything beyond the end is 0: `slot` becomes `v`. -/
def assign (v : Nat) : Nat → List Nat → List Nat
  | 0, l => v :: l.tail
  | n + 1, l => l.headD 0 :: assign v n l.tail

/-- Several assignments, in order. -/
def assignAll : List (Nat × Nat) → List Nat → List Nat
  | [], l => l
  | (slot, v) :: more, l => assignAll more (assign v slot l)

/-- Whether a number is in a list. -/
def mem (n : Nat) : List Nat → Bool
  | [] => false
  | m :: l => n == m || mem n l

/-- The list without the first occurrence of a number. -/
def without (n : Nat) : List Nat → List Nat
  | [] => []
  | m :: l => if n = m then l else m :: without n l

/-- The sum of a quantity over a list. -/
def sumOf {α : Type} (f : α → Nat) : List α → Nat
  | [] => 0
  | a :: l => f a + sumOf f l

/-- How many elements satisfy a test. -/
def countOf {α : Type} (p : α → Bool) : List α → Nat
  | [] => 0
  | a :: l => (p a).toNat + countOf p l

end Serq
