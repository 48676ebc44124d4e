module

public import Serq.Model.Growth

/-!
# Iterations

How the engine plans an iteration: the residents in serving order take what is left of the token budget,
growing holders grow, and with budget left the head of the engine's queue is admitted.
-/

@[expose] public section

namespace Serq

/-- An iteration being planned. -/
structure Plan where
  state : State
  batch : List Grant := []
  /-- The tokens not given out yet. -/
  left : Nat
  /-- The residents that have not had their turn, in order. -/
  todo : List Job
  /-- The residents that have. -/
  had : List Job := []

/-- Whether a session is a resident. -/
def isResident (i : Nat) : List Job → Bool
  | [] => false
  | j :: js => i == j.owner || isResident i js

/-- The jobs of a list without one that equals a given job. -/
def dropJob (j : Job) : List Job → List Job
  | [] => []
  | k :: ks => if j = k then ks else k :: dropJob j ks

/-- The jobs of a list that are not among others. -/
def newJobs : List Job → List Job → List Job
  | [], jobs => jobs
  | j :: had, jobs => newJobs had (dropJob j jobs)

/-- The grants of a batch whose owners are still residents. -/
def stillThere (jobs : List Job) : List Grant → List Grant
  | [] => []
  | g :: gs => if isResident g.owner jobs then g :: stillThere jobs gs else stillThere jobs gs

/-- What stands for the number of an admission that has not happened: the largest there is (interp.md §2). -/
def neverAdmitted : Nat := 4611686018427387904

/-- Whether an iteration may serve a resident. -/
def Setting.serves (x : Setting) (st : State) (j : Job) : Bool :=
  match x.d.only with
  | none => true
  | some e => 0 < e.eval fun
    | .attr slot => nth 0 slot (st.session j.owner).attrs
    | .decoding => j.decode.toNat
    | .admission => (st.session j.owner).admission.getD neverAdmitted
    | .remaining => j.work
    | .residents => st.jobs.length
    | .decoders => countOf Job.decode st.jobs

/-- The tokens given to a resident, and twice their attention work after `before` tokens. -/
def Job.grant (j : Job) (tokens before : Nat) : Grant :=
  { owner := j.owner, tokens, decode := j.decode,
    attention := if j.decode then 0 else tokens * (2 * before + tokens) }

/-- The position of a session's innermost hold of the memory. -/
def position (p : Nat) (s : Session) : Nat :=
  match innermost p s.frames with
  | none => 0
  | some share => share.position

/-- The tokens a plan has given out. -/
def Plan.given (b : Plan) : Nat := sumOf Grant.tokens b.batch

/-- Gives a resident tokens. -/
def Plan.give (b : Plan) (j : Job) (t before : Nat) : Plan :=
  { b with batch := b.batch ++ [j.grant t before], left := b.left - t }

/-- A plan in the state that growing a hold left: the tokens of whom it preempted are back. -/
def Plan.after (b : Plan) (st : State) : Plan :=
  let kept := match st.preempted with
    | [] => b.batch
    | _ :: _ => stillThere st.jobs b.batch
  { b with state := st, batch := kept, left := b.left + (b.given - sumOf Grant.tokens kept) }

/-- A resident's turn: it takes what it wants of the tokens left, if its hold can grow. False when it
preempted itself, which ends the plan. -/
def serve (x : Setting) (chunk : Nat) (j : Job) (b : Plan) : Plan × Bool :=
  let want := j.want chunk
  let t := if want ≤ b.left then want else b.left
  if t = 0 then (b, true)
  else if !x.serves b.state j then (b, true)
  else if !j.grows then (b.give j t 0, true)
  else
    match x.d.memory with
    | none => ({ b with state := b.state.fail }, false)
    | some p =>
      let before := position p (b.state.session j.owner)
      match grow x j.owner p t (b.state.jobs.length + 1) b.state with
      | (st, true) => ((b.after st).give j t before, true)
      | (st, false) => (b.after st, false)

/-- The first pool the engine serves with someone waiting, from `p` on. -/
def firstQueue (st : State) : Nat → List PoolSpec → Option Nat
  | _, [] => none
  | p, spec :: more =>
    if spec.byEngine && 0 < (st.pool p).queue.length then some p else firstQueue st (p + 1) more

/-- Admits one session within an iteration and runs it, if the first queue's head fits. -/
def admitOne (x : Setting) (left : Nat) (st : State) : Option State :=
  match firstQueue st 0 x.d.pools with
  | none => none
  | some p =>
    match tryHead x p (some left) st with
    | none => none
    | some st' => some (drain x fuel st')

/-- Whether a resident was preempted within the plan. -/
def Plan.gone (b : Plan) (j : Job) : Bool :=
  match b.state.preempted with
  | [] => false
  | _ :: _ => !isResident j.owner b.state.jobs

/-- Plans: each resident in order, then an admission while nobody was preempted, until the
budget is used up. -/
def plan (x : Setting) (chunk : Nat) : Nat → Plan → Plan
  | 0, b => { b with state := b.state.fail }
  | n + 1, b =>
    if b.left = 0 then b
    else
      match b.todo with
      | j :: more =>
        let b' := { b with todo := more, had := j :: b.had }
        if b.gone j then plan x chunk n b'
        else
          match serve x chunk j b' with
          | (b'', true) => plan x chunk n b''
          | (b'', false) => b''
      | [] =>
        match b.state.preempted with
        | _ :: _ => b
        | [] =>
          match admitOne x b.left b.state with
          | none => b
          | some st => plan x chunk n { b with state := st, todo := newJobs b.had st.jobs }

/-- The plan of an iteration. -/
def planned (x : Setting) (st : State) : Plan :=
  plan x (x.chunk st) fuel { state := st, left := x.d.budget, todo := st.jobs }

/-- What residents get of a budget in order, those that get something: the batch of a plan in which no hold
grows and nobody is admitted. -/
def fillJobs (chunk : Nat) : Nat → List Job → List Grant
  | _, [] => []
  | left, j :: js =>
    let t := if j.want chunk ≤ left then j.want chunk else left
    if t = 0 then fillJobs chunk left js else j.grant t 0 :: fillJobs chunk (left - t) js

/-- The units of a pool in a stack of frames. -/
def heldIn (p : Nat) : List Frame → Nat
  | [] => 0
  | .hold h _ :: fs => sumOf (fun s => if s.pool = p then s.units else 0) h.shares + heldIn p fs
  | _ :: fs => heldIn p fs

/-- The memory held by the owner of a decode. -/
def Grant.memory (x : Setting) (st : State) (g : Grant) : Nat :=
  match x.d.memory with
  | none => 0
  | some p => if g.decode then heldIn p (st.session g.owner).frames else 0

/-- The tokens of a prefill. -/
def Grant.prefilled (g : Grant) : Nat := if g.decode then 0 else g.tokens

/-- The sessions whose arrival time has come. -/
def arrived (x : Setting) (st : State) : Nat :=
  match x.w.arrivalSlot with
  | none => st.sessions.length
  | some slot => countOf (fun s => nth 0 slot s.attrs ≤ x.now) st.sessions

/-- The record of an iteration that starts with a plan. -/
def record (x : Setting) (served chunk : Nat) (b : Plan) : Iteration :=
  let st := b.state
  { start := x.now
    served
    batch := b.batch
    tokens := sumOf Grant.tokens b.batch
    prefilled := sumOf Grant.prefilled b.batch
    decoders := countOf Grant.decode b.batch
    kvDecode := sumOf (Grant.memory x st) b.batch
    attention := sumOf Grant.attention b.batch
    residents := st.jobs.length
    demand := sumOf (Job.want chunk) st.jobs
    arrived := arrived x st
    queued := st.pools.map fun q => q.queue.length
    holders := st.pools.map fun q => q.holders.length
    allocated := st.pools.map Pool.allocated
    cached := st.pools.map Pool.cached
    admitted := st.admitted
    resumed := st.resumed
    preempted := st.preempted }

/-- The time of an iteration, at least 1. -/
def duration (d : Deployment) (r : Iteration) : Nat :=
  let cost := d.cost.eval fun
    | .tokens => r.tokens
    | .prefilled => r.prefilled
    | .decoders => r.decoders
    | .kvDecode => r.kvDecode
    | .attention => r.attention
  if cost = 0 then 1 else cost

/-- What a resident has left to do after an iteration gave it tokens. -/
def Job.after (batch : List Grant) (j : Job) : Job :=
  { j with work := j.work - sumOf (fun g => if g.owner = j.owner then g.tokens else 0) batch }

/-- The owners in a batch whose jobs have no work left, in order. -/
def completed (jobs : List Job) : List Grant → List Nat
  | [] => []
  | g :: gs =>
    if jobs.any (fun j => j.owner == g.owner && j.work == 0) then g.owner :: completed jobs gs
    else completed jobs gs

/-- The end of an iteration: the residents have done their tokens; those that are done become ready. -/
def applyBatch (batch : List Grant) (st : State) : State :=
  let jobs := st.jobs.map (Job.after batch)
  let st' := { st with jobs := jobs.filter fun j => j.work ≠ 0 }
  (completed jobs batch).foldl State.wake st'

end Serq
