module

public import Serq.Model.Cache

/-!
# Holds

Joining a queue, admission of its head, release, the end of a session.
-/

@[expose] public section

namespace Serq

/-- What stays the same during an instant. -/
structure Setting where
  d : Deployment
  w : Workload
  now : Nat

/-- The chunk cap as the state stands. -/
def Setting.chunk (x : Setting) (st : State) : Nat :=
  x.d.chunk.eval fun
    | .residents => st.jobs.length
    | .queued p => (st.pool p).queue.length

/-- The tokens a resident could take: 1 for a decode, its work up to the chunk cap for a prefill. -/
def Job.want (chunk : Nat) (j : Job) : Nat :=
  if j.decode then (if j.work ≤ 1 then j.work else 1)
  else if chunk = 0 then j.work
  else if j.work ≤ chunk then j.work else chunk

/-- The tokens an iteration planned now would leave. -/
def Setting.spare (x : Setting) (st : State) : Nat :=
  x.d.budget - sumOf (Job.want (x.chunk st)) st.jobs

/-- A session's environment; `left` is the budget its admission is offered, where one is. -/
def Setting.env (x : Setting) (st : State) (i : Nat) (left : Option Nat := none) : Env where
  attrs := (st.session i).attrs
  serial := i
  cached := (st.session i).cached
  now := x.now
  cachedIn p := roundDown (x.d.block p) (ownSize i (st.pool p).entries)
  budgetLeft := match left with
    | some n => n
    | none => x.spare st

/-- The state with an attribute of a session set. -/
def State.setAttr (st : State) (i slot v : Nat) : State :=
  st.setSession i { st.session i with attrs := assign v slot (st.session i).attrs }

/-- The state with an attribute that the machine writes, if the workload has a slot for it. -/
def State.setSlot (st : State) (i : Nat) (slot : Option Nat) (v : Nat) : State :=
  match slot with
  | none => st
  | some k => st.setAttr i k v

/-! ## Release -/

/-- Units of a pool are given back, of which `kept` stay cached. -/
def State.giveBack (st : State) (now i pool units kept : Nat) : State :=
  { st.setPool pool ((st.pool pool).giveBack i units kept now st.releases) with
    releases := if kept = 0 then st.releases else st.releases + 1 }

/-- What a release keeps of a prefix: what the cache expression says of what is computed, in
whole blocks. -/
def kept (block wanted computed : Nat) : Nat :=
  roundDown block (if wanted ≤ computed then wanted else computed)

/-- One pool of a hold is given back. `computed` is how much of a prefix it can keep. -/
def giveBack (x : Setting) (i : Nat) (cache : Option (Expr Var)) (share : Share) (computed : Nat)
    (st : State) : State :=
  st.giveBack x.now i share.pool share.units <|
    match cache with
    | none => 0
    | some e => kept (x.d.block share.pool) (e.at (x.env st i)) computed

/-- The pools of a hold are given back, in order; by position where the hold advanced or
`positional` says so. -/
def giveBackAll (x : Setting) (i : Nat) (cache : Option (Expr Var)) (positional : Bool) :
    List Share → State → State
  | [], st => st
  | s :: more, st =>
    giveBackAll x i cache positional more
      (giveBack x i cache s (if positional then s.position else s.units) st)

/-- A hold that is no longer on its session's stack is released. -/
def release (x : Setting) (i : Nat) (h : Open) (positional : Bool) (st : State) : State :=
  giveBackAll x i h.header.cache (positional || h.advanced) h.shares st

/-- Releases every hold of a stack, the innermost first, leaving the stack empty. -/
def releaseAll (x : Setting) (i : Nat) : List Frame → State → State
  | [], st => st
  | .hold h _ :: fs, st =>
    releaseAll x i fs (release x i h false (st.setSession i { st.session i with frames := fs }))
  | _ :: fs, st => releaseAll x i fs (st.setSession i { st.session i with frames := fs })

/-- The session ends: its holds are released. -/
def endSession (x : Setting) (i : Nat) (st : State) : State :=
  let st' := releaseAll x i (st.session i).frames st
  st'.setSession i { st'.session i with code := .finish, frames := [], status := .ended }

/-! ## Queues -/

/-- Whether a need is above the capacity whatever happens: such a request is refused. -/
def neverFits (d : Deployment) (e : Env) (n : Need) : Bool :=
  let sure (q : Expr Var) : Nat := if q.all Var.lasts then q.at e else 0
  let most := if sure n.units ≤ sure n.reserve then sure n.reserve else sure n.units
  (d.pool n.pool).cap < roundUp (d.block n.pool) most

/-- Whether two needs of a hold name one pool. -/
def twice : List Need → Bool
  | [] => false
  | n :: more => more.any (fun m => m.pool == n.pool) || twice more

/-- The session, at a hold, joins the queue of its first pool, or is refused, and ends. -/
def join (x : Setting) (i : Nat) (h : Header) (front : Bool) (st : State) : State :=
  match h.needs with
  | [] => st.fail
  | n :: more =>
    if twice (n :: more) then st.fail
    else if (n :: more).any (neverFits x.d (x.env st i)) then endSession x i st
    else
      let q := st.pool n.pool
      let queue := if front then i :: q.queue else q.queue ++ [i]
      (st.setSession i { st.session i with status := .queued n.pool front }).setPool n.pool { q with queue }

/-- The waiting session with the least key, the earlier one among equals. -/
def leastKey (key : Nat → Nat) : Nat → List Nat → Nat
  | best, [] => best
  | best, i :: more => leastKey key (if key i < key best then i else best) more

/-- The session a pool tries next: the one in front if it was preempted or there is no key, else the one
with the least key. -/
def selected (x : Setting) (p : Nat) (left : Option Nat) (st : State) : Option Nat :=
  match (st.pool p).queue with
  | [] => none
  | i :: more =>
    match (st.session i).status, (x.d.pool p).key with
    | .queued _ true, _ => some i
    | _, none => some i
    | _, some key => some (leastKey (fun j => key.at (x.env st j left)) i more)

/-! ## Admission -/

/-- What a need comes to: the units to allocate and the units that must fit, in whole blocks. -/
structure Demand where
  pool : Nat
  units : Nat
  required : Nat
  deriving DecidableEq, Repr

/-- The value of a need. -/
def Need.demand (d : Deployment) (e : Env) (n : Need) : Demand :=
  let u := n.units.at e
  let r := n.reserve.at e
  let b := d.block n.pool
  { pool := n.pool, units := roundUp b u, required := roundUp b (if u ≤ r then r else u) }

/-- A demand fits when it does next to what is allocated; cached units never block. -/
def Demand.fits (d : Deployment) (st : State) (m : Demand) : Bool :=
  (st.pool m.pool).allocated + m.required ≤ (d.pool m.pool).cap

/-- Takes the units of each demand in order; with the shares of the new hold. -/
def takeAll (x : Setting) (i : Nat) (amount : Nat → Option (Nat → Nat)) :
    List Demand → State → List Share × State
  | [], st => ([], st)
  | m :: more, st =>
    let taken := (st.pool m.pool).take (x.d.pool m.pool).cap (x.d.block m.pool) i m.units (amount m.pool)
    let rest := takeAll x i amount more (st.setPool m.pool taken.2)
    ({ pool := m.pool, units := m.units, position := taken.1 } :: rest.1, rest.2)

/-- The largest position among shares. -/
def mostPosition : List Share → Nat
  | [] => 0
  | s :: more => if s.position ≤ mostPosition more then mostPosition more else s.position

/-- Admits a session at its hold: its demands and the bound of what it consumes are those of the environment
before the admission. -/
def enter (x : Setting) (i : Nat) (h : Header) (body next : Code) (e : Env) (st : State) : State :=
  let bound := h.reuse.map fun r => r.at e
  let amount (p : Nat) : Option (Nat → Nat) := h.cache.map fun _ => consumed (x.d.block p) bound
  let taken := takeAll x i amount (h.needs.map (Need.demand x.d e)) st
  let st' := taken.2
  let s := st'.session i
  let resumed := match s.status with
    | .queued _ r => r
    | _ => false
  let st'' := st'.setSession i
    { s with
      cached := mostPosition taken.1
      code := body
      frames := .hold { header := h, body, shares := taken.1 } next :: s.frames
      status := .ready
      admission := some st.admissions }
  { st'' with
    ready := st''.ready ++ [i]
    admissions := st.admissions + 1
    admitted := st''.admitted ++ [i]
    resumed := if resumed then st''.resumed ++ [i] else st''.resumed }

/-- Admits the session selected at a pool, if there is one and its hold fits. -/
def tryHead (x : Setting) (p : Nat) (left : Option Nat) (st : State) : Option State :=
  match selected x p left st with
  | none => none
  | some i =>
    match (st.session i).code with
    | .hold h body next =>
      let e := x.env st i left
      if (h.needs.map (Need.demand x.d e)).all (Demand.fits x.d st) && !twice h.needs then
        let q := st.pool p
        some (enter x i h body next e (st.setPool p { q with queue := without i q.queue }))
      else none
    | _ => none

end Serq
