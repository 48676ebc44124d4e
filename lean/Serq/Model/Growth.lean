module

public import Serq.Model.Statements

/-!
# Growth and preemption

A resident that computes tokens grows its hold of the engine's memory; when there is no room, the resident
admitted last is preempted, until the growth fits or the grower is its own victim.
-/

@[expose] public section

namespace Serq

/-- The share of a pool in a hold. -/
def shareIn (p : Nat) : List Share → Option Share
  | [] => none
  | s :: more => if s.pool = p then some s else shareIn p more

/-- The share of a pool in the innermost hold of a stack that has one. -/
def innermost (p : Nat) : List Frame → Option Share
  | [] => none
  | .hold h _ :: fs =>
    match shareIn p h.shares with
    | some s => some s
    | none => innermost p fs
  | _ :: fs => innermost p fs

/-- The shares of a hold with the first one of a pool at other units and another position. -/
def reshare (p units position : Nat) : List Share → List Share
  | [] => []
  | s :: more => if s.pool = p then { s with units, position } :: more else s :: reshare p units position more

/-- A stack whose innermost share of a pool has other units and another position. -/
def advance (p units position : Nat) : List Frame → List Frame
  | [] => []
  | .hold h next :: fs =>
    match shareIn p h.shares with
    | some _ => .hold { h with shares := reshare p units position h.shares, advanced := true } next :: fs
    | none => .hold h next :: advance p units position fs
  | f :: fs => f :: advance p units position fs

/-- The holder with status *engine* admitted last. -/
def victim (st : State) : List Nat → Option Nat
  | [] => none
  | i :: more =>
    let later := victim st more
    match (st.session i).status with
    | .engine =>
      match later with
      | none => some i
      | some j => if (st.session j).before (st.session i).admission then some i else some j
    | _ => later

/-- Unwinds a stack through its innermost hold of a pool, releasing by position; the session is at that
hold's statement again. -/
def unwind (x : Setting) (i p : Nat) : List Frame → State → State
  | [], st => st.fail
  | .hold h next :: fs, st =>
    let st := st.setSession i
      { st.session i with code := .hold h.header h.body next, frames := fs }
    let st := release x i h true st
    match shareIn p h.shares with
    | some _ => st
    | none => unwind x i p fs st
  | _ :: fs, st => unwind x i p fs (st.setSession i { st.session i with frames := fs })

/-- The jobs of everyone else. -/
def jobsBut (i : Nat) : List Job → List Job
  | [] => []
  | j :: js => if j.owner = i then jobsBut i js else j :: jobsBut i js

/-- The session joins, in front, the queue of the hold it is at. -/
def rejoin (x : Setting) (i : Nat) (st : State) : State :=
  match (st.session i).code with
  | .hold h _ _ => join x i h true st
  | _ => st.fail

/-- Preempts a session of a pool: `computed` becomes its position, its job leaves, its stack is unwound, it
is in front of the queue again. -/
def preempt (x : Setting) (v p : Nat) (st : State) : State :=
  match innermost p (st.session v).frames with
  | none => st.fail
  | some share =>
    let st := st.setSlot v x.w.computedSlot share.position
    let st := { st with
      jobs := jobsBut v st.jobs
      preemptions := st.preemptions + 1
      preempted := st.preempted ++ [v] }
    rejoin x v (unwind x v p (st.session v).frames st)

/-- Grows a session's hold of a pool to cover `t` more tokens, preempting until they fit; false when the
session preempted itself. -/
def grow (x : Setting) (i p t : Nat) : Nat → State → State × Bool
  | 0, st => (st.fail, false)
  | n + 1, st =>
    let s := st.session i
    match innermost p s.frames with
    | none => (st.fail, false)
    | some share =>
      let position := share.position + t
      if position ≤ share.units then
        (st.setSession i { s with frames := advance p share.units position s.frames }, true)
      else
        let q := st.pool p
        let units := roundUp (x.d.block p) position
        let need := units - share.units
        if q.allocated + need ≤ (x.d.pool p).cap then
          let room := q.makeRoom (x.d.pool p).cap (x.d.block p) need
          ((st.setSession i { s with frames := advance p (share.units + need) position s.frames }).setPool p
            { room with allocated := room.allocated + need }, true)
        else
          match victim st q.holders with
          | none => (st.fail, false)
          | some v =>
            let st' := preempt x v p st
            if v = i then (st', false) else grow x i p t n st'

end Serq
