module

public import Serq.Model.Hold

/-!
# Statements and settling

One statement of a session, a session's run until it blocks, and the settling of an instant: every ready
session runs, every pool the engine does not serve admits, until nobody is ready.
-/

@[expose] public section

namespace Serq

/-- More than any loop of a run needs. A loop that exhausts it puts the state at fault. -/
def fuel : Nat := 100000

/-- Admits at a pool until the session tried does not fit. -/
def admitPool (x : Setting) (p : Nat) : Nat → State → State
  | 0, st => st.fail
  | n + 1, st =>
    match tryHead x p none st with
    | none => st
    | some st' => admitPool x p n st'

/-- Admits at every pool the engine does not serve, in declaration order from `p`. -/
def admitFrom (x : Setting) : Nat → List PoolSpec → State → State
  | _, [], st => st
  | p, spec :: more, st => admitFrom x (p + 1) more (if spec.byEngine then st else admitPool x p fuel st)

/-- Admits at every pool the engine does not serve. -/
def admitAll (x : Setting) (st : State) : State := admitFrom x 0 x.d.pools st

/-- Whether a job stands before a new one of a session last admitted as number `a`: sessions never admitted
come last. -/
def Session.before (s : Session) (a : Option Nat) : Bool :=
  match s.admission, a with
  | _, none => true
  | none, some _ => false
  | some m, some n => m ≤ n

/-- Inserts a job after every job whose owner was not admitted later than its own. -/
def insertJob (st : State) (a : Option Nat) (j : Job) : List Job → List Job
  | [] => [j]
  | k :: ks => if (st.session k.owner).before a then k :: insertJob st a j ks else j :: k :: ks

/-- Inserts a delay after every one that ends no later. -/
def insertDelay (d : Delay) : List Delay → List Delay
  | [] => [d]
  | e :: es => if e.time ≤ d.time then e :: insertDelay d es else d :: e :: es

/-- One more turn on the session's counter, if it has one. -/
def countTurn (x : Setting) (i : Nat) (st : State) : State :=
  match x.w.turnSlot with
  | none => st
  | some slot => st.setAttr i slot (nth 0 slot (st.session i).attrs + 1)

/-- The session takes its next turn. -/
def takeTurn (x : Setting) (i : Nat) (st : State) : State :=
  let st := countTurn x i st
  match (nth { } i x.w.clients).turns with
  | [] => st
  | turns =>
    let s := st.session i
    match nth none s.turn (turns.map some) with
    | none => st.setSlot i x.w.moreSlot 0
    | some values =>
      let st := st.setSession i { s with attrs := assignAll values s.attrs, turn := s.turn + 1 }
      st.setSlot i x.w.moreSlot (if s.turn + 1 < turns.length then 1 else 0)

/-- A run of some work: no work completes at once, and the session yields; else it goes into a delay or
becomes a resident. -/
def startRun (x : Setting) (i : Nat) (place : Place) (work : Nat) (next : Code) (st : State) : State :=
  let s := { st.session i with code := next }
  if work = 0 then { st.setSession i s with ready := st.ready ++ [i] }
  else
    match place with
    | .delay =>
      { st.setSession i { s with status := .delay (x.now + work) st.events } with
        delays := insertDelay { time := x.now + work, number := st.events, owner := i } st.delays
        events := st.events + 1 }
    | .prefill grows =>
      { st.setSession i { s with status := .engine } with
        jobs := insertJob st s.admission { owner := i, decode := false, work, grows } st.jobs }
    | .decode grows =>
      { st.setSession i { s with status := .engine } with
        jobs := insertJob st s.admission { owner := i, decode := true, work, grows } st.jobs }

/-- Whether the engine admits a hold. -/
def Header.byEngine (d : Deployment) (h : Header) : Bool :=
  match h.needs with
  | [] => false
  | n :: _ => (d.pool n.pool).byEngine

/-- The end of a hold's body: it is released, `computed` becomes 0, the other pools serve their queues. -/
def endHold (x : Setting) (i : Nat) (h : Open) (next : Code) (fs : List Frame) (st : State) : State :=
  let st := st.setSession i { st.session i with code := next, frames := fs }
  let st := (release x i h false st).setSlot i x.w.computedSlot 0
  admitAll x (if h.header.byEngine x.d then { st with finished := st.finished ++ [i] } else st)

/-- One statement of a session, or the end of a block; and whether the session goes on. -/
def command (x : Setting) (i : Nat) (st : State) : State × Bool :=
  let s := st.session i
  match s.code with
  | .finish => (endSession x i st, false)
  | .set slot value next =>
    (st.setSession i { s with code := next, attrs := assign (value.at (x.env st i)) slot s.attrs }, true)
  | .observe name value next =>
    let seen : Observation := { name, session := i, time := x.now, value := value.at (x.env st i) }
    ({ st.setSession i { s with code := next } with observations := seen :: st.observations }, true)
  | .turn next => (takeTurn x i (st.setSession i { s with code := next }), true)
  | .branch test yes no next =>
    (st.setSession i { s with
      code := if test.at (x.env st i) = 0 then no else yes
      frames := .rest next :: s.frames }, true)
  | .loop body => (st.setSession i { s with code := body, frames := .loop body :: s.frames }, true)
  | .while test body next =>
    if test.at (x.env st i) = 0 then (st.setSession i { s with code := next }, true)
    else (st.setSession i { s with code := body, frames := .again test body next :: s.frames }, true)
  | .run place work next => (startRun x i place (work.at (x.env st i)) next st, false)
  | .hold h _ _ => (join x i h false st, false)
  | .done =>
    match s.frames with
    | [] => (endSession x i st, false)
    | .rest next :: fs => (st.setSession i { s with code := next, frames := fs }, true)
    | .loop body :: _ => (st.setSession i { s with code := body }, true)
    | .again test body next :: fs =>
      (st.setSession i { s with code := .while test body next, frames := fs }, true)
    | .hold h next :: fs => (endHold x i h next fs st, true)

/-- Runs a session until it blocks. -/
def exec (x : Setting) (i : Nat) : Nat → State → State
  | 0, st => st.fail
  | n + 1, st =>
    match command x i st with
    | (st', true) => exec x i n st'
    | (st', false) => st'

/-- Runs the ready sessions in order, and those they make ready. -/
def drain (x : Setting) : Nat → State → State
  | 0, st => st.fail
  | n + 1, st =>
    match st.ready with
    | [] => st
    | i :: more =>
      let st' := { st with ready := more }
      drain x n (match (st.session i).status with
        | .ready => exec x i fuel st'
        | _ => st')

/-- Runs the ready sessions and admits at the pools, until nobody is ready. -/
def settle (x : Setting) : Nat → State → State
  | 0, st => st.fail
  | n + 1, st =>
    let st' := admitAll x (drain x fuel st)
    match st'.ready with
    | [] => st'
    | _ :: _ => settle x n st'

end Serq
