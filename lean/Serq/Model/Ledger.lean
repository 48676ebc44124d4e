module

public import Serq.Model.Lists

/-!
# The pool as a ledger

A pool in the abstract: who holds how much, who left how much cached, and five commands. The order of
eviction is any rearrangement of the cached entries; amounts are integers, so that staying at least 0 is
something to prove.
-/

@[expose] public section

namespace Serq.Ledger

/-- An amount of a session. -/
abbrev Amount := Nat × Int

/-- The sum of amounts. -/
def total : List Amount → Int
  | [] => 0
  | a :: l => a.2 + total l

/-- Every amount is at least 0. -/
def Nonneg (l : List Amount) : Prop := ∀ a ∈ l, 0 ≤ a.2

/-- A pool: waiting requests, allocations, cached entries. -/
structure Book where
  waiting : List Amount
  held : List Amount
  kept : List Amount

/-- Evicts from the front until at most `bound` remains; the last entry evicted may lose a part only. -/
def evictTo (bound : Int) : List Amount → List Amount
  | [] => []
  | a :: l =>
    if a.2 + total l ≤ bound then a :: l
    else if total l ≤ bound then (a.1, bound - total l) :: l
    else evictTo bound l

/-- The commands on a pool of capacity `cap`. -/
inductive Command (cap : Int) : Book → Book → Prop
  /-- A request for `u` units waits. -/
  | queue (b : Book) (i : Nat) (u : Int) : 0 ≤ u →
      Command cap b { b with waiting := b.waiting ++ [(i, u)] }
  /-- A request is admitted if it fits next to the allocations; cached entries are evicted, in any order. -/
  | accept (b : Book) (i : Nat) (u : Int) (order rest : List Amount) :
      (i, u) ∈ b.waiting → b.waiting.Perm ((i, u) :: rest) → total b.held + u ≤ cap → order.Perm b.kept →
      Command cap b
        { waiting := rest, held := (i, u) :: b.held, kept := evictTo (cap - total b.held - u) order }
  /-- An allocation of `c` is freed, of which `l` stays cached. -/
  | free (b : Book) (i : Nat) (c l : Int) (rest : List Amount) :
      b.held.Perm ((i, c) :: rest) → 0 ≤ l → l ≤ c →
      Command cap b { b with held := rest, kept := b.kept ++ [(i, l)] }
  /-- A cached entry is dropped. -/
  | drop (b : Book) (a : Amount) (rest : List Amount) : b.kept.Perm (a :: rest) →
      Command cap b { b with kept := rest }
  /-- A waiting request leaves. -/
  | leave (b : Book) (a : Amount) (rest : List Amount) : b.waiting.Perm (a :: rest) →
      Command cap b { b with waiting := rest }

/-- Every entry of a book is at least 0. -/
def Book.Nonneg (b : Book) : Prop := Ledger.Nonneg b.waiting ∧ Ledger.Nonneg b.held ∧ Ledger.Nonneg b.kept

/-- What is allocated and what is cached fit in the pool. -/
def Book.Within (cap : Int) (b : Book) : Prop := total b.held + total b.kept ≤ cap

end Serq.Ledger
