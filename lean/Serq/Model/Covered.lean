module

public import Serq.Model.Engine

/-!
# Covered programs

A hold covers what it consumes of a pool if, in every environment, the prefix its admission may consume
there is no more than the units it takes. The memory invariant of a pool is about programs whose holds all
do.
-/

@[expose] public section

namespace Serq

/-- The most an admission consumes of a prefix, in an environment. -/
def Header.consumes (d : Deployment) (h : Header) (e : Env) (p : Nat) : Nat :=
  match h.reuse with
  | none => e.cachedIn p
  | some r => roundDown (d.block p) (if r.at e ≤ e.cachedIn p then r.at e else e.cachedIn p)

/-- In every environment the units of each pool of `K` cover the prefix consumed there. -/
def Header.Covers (d : Deployment) (K : Nat → Prop) (h : Header) : Prop :=
  h.cache ≠ none → ∀ n ∈ h.needs, K n.pool → ∀ e : Env,
    h.consumes d e n.pool ≤ roundUp (d.block n.pool) (n.units.at e)

/-- Every hold of a program covers what it consumes of the pools of `K`. -/
def Code.Covers (d : Deployment) (K : Nat → Prop) : Code → Prop
  | .done => True
  | .finish => True
  | .set _ _ next => next.Covers d K
  | .observe _ _ next => next.Covers d K
  | .turn next => next.Covers d K
  | .branch _ yes no next => yes.Covers d K ∧ no.Covers d K ∧ next.Covers d K
  | .loop body => body.Covers d K
  | .while _ body next => body.Covers d K ∧ next.Covers d K
  | .run _ _ next => next.Covers d K
  | .hold h body next => h.Covers d K ∧ body.Covers d K ∧ next.Covers d K

/-- A frame whose programs are covered, and whose positions are within the allocations. -/
def Frame.Good (d : Deployment) (K : Nat → Prop) : Frame → Prop
  | .rest next => next.Covers d K
  | .loop body => body.Covers d K
  | .again _ body next => body.Covers d K ∧ next.Covers d K
  | .hold h next =>
    h.header.Covers d K ∧ h.body.Covers d K ∧ next.Covers d K ∧
      ∀ s ∈ h.shares, K s.pool → s.position ≤ s.units

/-- A session whose program is covered, and whose positions are within its allocations. -/
structure Session.Good (d : Deployment) (K : Nat → Prop) (s : Session) : Prop where
  code : s.code.Covers d K
  frames : ∀ f ∈ s.frames, f.Good d K

/-- The units of a pool among shares. -/
def sharesIn (p : Nat) (l : List Share) : Nat := sumOf (fun s => if s.pool = p then s.units else 0) l

/-- Units of each pool, with those of some shares. -/
def plusShares (extra : Nat → Nat) (l : List Share) : Nat → Nat := fun p => extra p + sharesIn p l

/-- The units of a pool in all open holds. -/
def State.held (st : State) (p : Nat) : Nat := sumOf (fun s => heldIn p s.frames) st.sessions

/-- The demands take from different pools. -/
def Distinct : List Demand → Prop
  | [] => True
  | m :: more => (∀ n ∈ more, n.pool ≠ m.pool) ∧ Distinct more

/-- The memory invariant, with units of each pool that are allocated to no open hold. -/
structure State.Accounted (d : Deployment) (K : Nat → Prop) (extra : Nat → Nat) (st : State) : Prop where
  good : ∀ s ∈ st.sessions, s.Good d K
  allocated : ∀ p, (st.pool p).allocated = st.held p + extra p
  fits : ∀ p, K p → (st.pool p).allocated + (st.pool p).cached ≤ (d.pool p).cap
  pools : st.pools.length = d.pools.length

end Serq
