module

public import Serq.Model.Cache

/-!
# Entries in order

What is said of the cached entries of a state: they are in release order, positive, and stamped by now.
-/

@[expose] public section

namespace Serq

/-- An entry was released no later than another. -/
def Entry.NoLater (a b : Entry) : Prop := a.time < b.time ∨ (a.time = b.time ∧ a.number ≤ b.number)

/-- Each entry was released no later than those after it. -/
def Ordered : List Entry → Prop
  | [] => True
  | e :: es => (∀ x ∈ es, e.NoLater x) ∧ Ordered es

/-- A positive entry, released by now and before release `releases`. -/
structure Entry.Stamped (now releases : Nat) (e : Entry) : Prop where
  size : 0 < e.size
  time : e.time ≤ now
  number : e.number < releases

/-- Entries in release order, all positive and released by now. -/
structure InOrder (now releases : Nat) (es : List Entry) : Prop where
  ordered : Ordered es
  stamped : ∀ e ∈ es, e.Stamped now releases

/-- The entries of every pool are in order. -/
def State.EntriesInOrder (now : Nat) (st : State) : Prop := ∀ p, InOrder now st.releases (st.pool p).entries

end Serq
