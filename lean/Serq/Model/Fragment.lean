module

public import Serq.Model.Machine

/-!
# Membership in the fragment

The conditions under which the machine and the interpreter of the IR mean the same by a program. They are
decidable, so membership of a concrete program is a theorem by `decide`.
-/

@[expose] public section

namespace Serq

namespace Expr

variable {V : Type}

/-- A literal greater than 0. -/
def isPositive : Expr V → Bool
  | lit n => 0 < n
  | _ => false

/-- No intermediate value is negative or undefined: nothing is subtracted, and divisors are
positive literals. -/
def isSafe : Expr V → Bool
  | lit _ => true
  | var _ => true
  | bin .sub _ _ => false
  | bin .div a b => isSafe a && isPositive b
  | bin .ceil a b => isSafe a && isPositive b
  | bin _ a b => isSafe a && isSafe b
  | not a => isSafe a
  | cond test yes no => isSafe test && isSafe yes && isSafe no

/-- The value is certainly 0 or 1; `truths` are the variables known to be. -/
def isTruth (truths : V → Bool) : Expr V → Bool
  | lit n => n ≤ 1
  | var v => truths v
  | bin .lt _ _ | bin .le _ _ | bin .eq _ _ | bin .ne _ _ | bin .and _ _ | bin .or _ _ => true
  | bin _ _ _ => false
  | not _ => true
  | cond _ yes no => isTruth truths yes && isTruth truths no

/-- Sums of multiples, and of multiples of tiles. -/
def isLinear : Expr V → Bool
  | lit _ => true
  | var _ => true
  | bin .add a b => isLinear a && isLinear b
  | bin .mul (lit _) b => isLinear b
  | bin .mul a (lit _) => isLinear a
  | bin .ceil a (lit k) => isLinear a && 0 < k
  | _ => false

end Expr

/-- The slots an expression reads. -/
def slotsOf : Expr Var → List Nat
  | .lit _ => []
  | .var (.attr slot) => [slot]
  | .var _ => []
  | .bin _ a b => slotsOf a ++ slotsOf b
  | .not a => slotsOf a
  | .cond test yes no => slotsOf test ++ slotsOf yes ++ slotsOf no

/-- Whether an expression reads pools that exist. -/
def readsPools (d : Deployment) (e : Expr Var) : Bool :=
  e.all fun
    | .cachedIn p => p < d.pools.length
    | _ => true

namespace Code

/-- Whether every way through a block passes a run, or ends the session. -/
def runs : Code → Bool
  | done => false
  | finish => true
  | set _ _ next => runs next
  | observe _ _ next => runs next
  | turn next => runs next
  | branch _ yes no next => (runs yes && runs no) || runs next
  | loop _ => true
  | .while _ _ next => runs next
  | run _ _ _ => true
  | hold _ body next => runs body || runs next

/-- Every loop passes a run. -/
def loopsRun : Code → Bool
  | done => true
  | finish => true
  | set _ _ next => loopsRun next
  | observe _ _ next => loopsRun next
  | turn next => loopsRun next
  | branch _ yes no next => loopsRun yes && loopsRun no && loopsRun next
  | loop body => runs body && loopsRun body
  | .while _ body next => runs body && loopsRun body && loopsRun next
  | run _ _ next => loopsRun next
  | hold _ body next => loopsRun body && loopsRun next

/-- Holds name pools that exist, each once, none that the session holds already; runs grow the memory only
inside a hold of it. `held` are the pools held. -/
def holdsProperly (d : Deployment) (held : List Nat) : Code → Bool
  | done => true
  | finish => true
  | set _ e next => readsPools d e && holdsProperly d held next
  | observe _ e next => readsPools d e && holdsProperly d held next
  | turn next => holdsProperly d held next
  | branch e yes no next =>
    readsPools d e && holdsProperly d held yes && holdsProperly d held no && holdsProperly d held next
  | loop body => holdsProperly d held body
  | .while e body next => readsPools d e && holdsProperly d held body && holdsProperly d held next
  | run place e next =>
    readsPools d e && holdsProperly d held next &&
      match place with
      | .prefill true | .decode true =>
        match d.memory with
        | some p => mem p held
        | none => false
      | _ => true
  | hold h body next =>
    !h.needs.isEmpty && !twice h.needs &&
      h.needs.all (fun n => n.pool < d.pools.length && !mem n.pool held &&
        readsPools d n.units && readsPools d n.reserve) &&
      h.reuse.all (readsPools d) && h.cache.all (readsPools d) &&
      holdsProperly d (h.needs.map Need.pool ++ held) body && holdsProperly d held next

/-- Every assignment of a program. -/
def assignments : Code → List (Nat × Expr Var)
  | done => []
  | finish => []
  | set slot e next => (slot, e) :: assignments next
  | observe _ _ next => assignments next
  | turn next => assignments next
  | branch _ yes no next => assignments yes ++ assignments no ++ assignments next
  | loop body => assignments body
  | .while _ body next => assignments body ++ assignments next
  | run _ _ next => assignments next
  | hold _ body next => assignments body ++ assignments next

/-- The guards of every while. -/
def guards : Code → List (Expr Var)
  | done => []
  | finish => []
  | set _ _ next => guards next
  | observe _ _ next => guards next
  | turn next => guards next
  | branch _ yes no next => guards yes ++ guards no ++ guards next
  | loop body => guards body
  | .while e body next => e :: (guards body ++ guards next)
  | run _ _ next => guards next
  | hold _ body next => guards body ++ guards next

end Code

/-- The slots that feed some slots through assignments, in `n` rounds. -/
def feeding (assigned : List (Nat × Expr Var)) : Nat → List Nat → List Nat
  | 0, slots => slots
  | n + 1, slots =>
    feeding assigned n (slots ++
      (assigned.filter fun a => mem a.1 slots).flatMap fun a => (slotsOf a.2).filter fun s => !mem s slots)

/-- Whether every value a workload gives a slot is 0 or 1. -/
def Workload.givesTruths (w : Workload) (slot : Nat) : Bool :=
  w.clients.all fun c =>
    (c.presets :: c.turns).all fun values => values.all fun v => !(v.1 == slot) || v.2 ≤ 1

/-- Whether a variable is certainly 0 or 1: `more`, where no statement sets it. -/
def knownTruth (w : Workload) (c : Code) : Var → Bool
  | .attr slot =>
    w.moreSlot == some slot && w.givesTruths slot && !c.assignments.any fun a => a.1 == slot
  | _ => false

/-- Guards of whiles are 0 or 1, and what feeds them is neither subtracted nor divided by
anything variable. -/
def guardsAreCertain (w : Workload) (c : Code) : Bool :=
  let fed := feeding c.assignments c.assignments.length (c.guards.flatMap slotsOf)
  c.guards.all (fun e => e.isTruth (knownTruth w c) && e.isSafe) &&
    c.assignments.all fun a => !mem a.1 fed || a.2.isSafe

/-- An engine of the fragment: a chunk cap that cannot go wrong, a linear cost with a constant, at most one
queue key, none on the memory. -/
def Deployment.isProper (d : Deployment) : Bool :=
  d.chunk.isSafe && d.chunk.all (fun
      | .queued p => p < d.pools.length
      | .residents => true) &&
    d.cost.isLinear && 0 < d.cost.eval (fun _ => 0) &&
    (d.pools.filter fun p => p.key.isSome).length ≤ 1 &&
    match d.memory with
    | none => true
    | some p => p < d.pools.length && (d.pool p).key.isNone && !(d.pool p).byEngine

/-- A program, its deployment and its workload belong to the fragment. -/
structure InFragment (d : Deployment) (w : Workload) (c : Code) : Prop where
  deployment : d.isProper = true
  loops : c.loopsRun = true
  holds : c.holdsProperly d [] = true
  guards : guardsAreCertain w c = true

instance (d : Deployment) (w : Workload) (c : Code) : Decidable (InFragment d w c) :=
  if h : d.isProper = true ∧ c.loopsRun = true ∧ c.holdsProperly d [] = true ∧
      guardsAreCertain w c = true then
    isTrue ⟨h.1, h.2.1, h.2.2.1, h.2.2.2⟩
  else isFalse fun k => h ⟨k.deployment, k.loops, k.holds, k.guards⟩

end Serq
