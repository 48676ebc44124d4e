module

public import Serq.Model.Lists

/-!
# Greedy serving in the abstract

Filling wants in order from a budget, and serving a list of residents, each known by its remaining prefill
(0 once it decodes).
-/

@[expose] public section

namespace Serq.Greedy

/-- The lesser of two numbers. -/
def least (a b : Nat) : Nat := if a ≤ b then a else b

/-- What each want gets of a budget, in order. -/
def fill : Nat → List Nat → List Nat
  | _, [] => []
  | budget, want :: more => least want budget :: fill (budget - least want budget) more

/-- What a resident wants: 1 once it decodes, else its remaining prefill up to the chunk cap (0 is none). -/
def want (chunk remaining : Nat) : Nat :=
  if remaining = 0 then 1 else if chunk = 0 then remaining else least remaining chunk

/-- One iteration: every resident gets what it wants of what is left, in order. -/
def serve (chunk : Nat) : Nat → List Nat → List Nat
  | _, [] => []
  | budget, r :: more =>
    (r - least (want chunk r) budget) :: serve chunk (budget - least (want chunk r) budget) more

/-- Decodes before prefills: after a resident with prefill left, only such. -/
def Shape : List Nat → Prop
  | [] => True
  | r :: more => (r = 0 ∨ ∀ s ∈ more, s ≠ 0) ∧ Shape more

/-- The decodes of a list, and its prefills. -/
def decodes : List Nat → List Nat
  | [] => []
  | r :: more => if r = 0 then r :: decodes more else decodes more

/-- The residents with prefill left. -/
def prefills : List Nat → List Nat
  | [] => []
  | r :: more => if r = 0 then prefills more else r :: prefills more

end Serq.Greedy
