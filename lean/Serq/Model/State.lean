module

public import Serq.Model.Program

/-!
# States

What a run changes. `State` is what the statements of sessions act on; `Machine` adds the clock and the
engine's running iteration, which no statement touches.
-/

@[expose] public section

namespace Serq

/-- A cached prefix: of a session, or dead (the remainder of a prefix that an admission consumed
in part). -/
structure Entry where
  owner : Option Nat
  size : Nat
  /-- When it was released, and which release that was. -/
  time : Nat
  number : Nat
  deriving DecidableEq, Repr

/-- A pool. Entries are in the order of their release, holders in the order of their admission. -/
structure Pool where
  allocated : Nat := 0
  entries : List Entry := []
  holders : List Nat := []
  queue : List Nat := []
  deriving DecidableEq, Repr

/-- The units a pool keeps cached. -/
def Pool.cached (p : Pool) : Nat := sumOf Entry.size p.entries

/-- What an open hold has of one pool: its units, and the position of its computed prefix. -/
structure Share where
  pool : Nat
  units : Nat
  position : Nat
  deriving DecidableEq, Repr

/-- An open hold. `advanced`: some run has moved a position. The statement is kept, to be executed again. -/
structure Open where
  header : Header
  body : Code
  shares : List Share
  advanced : Bool := false
  deriving DecidableEq, Repr

/-- What remains to be done after a block. -/
inductive Frame
  | rest (next : Code)
  | loop (body : Code)
  | again (test : Expr Var) (body next : Code)
  | hold (open_ : Open) (next : Code)
  deriving DecidableEq, Repr

/-- Where a session is. A session put back into a queue by a preemption is `resumed`. -/
inductive Status
  | ready
  | queued (pool : Nat) (resumed : Bool)
  | engine
  | delay (until_ number : Nat)
  | ended
  deriving DecidableEq, Repr

/-- A session; its number is its place in the list of sessions. -/
structure Session where
  attrs : List Nat := []
  /-- What its last admission consumed. -/
  cached : Nat := 0
  code : Code := .finish
  frames : List Frame := []
  status : Status := .ended
  /-- The number of its latest admission. -/
  admission : Option Nat := none
  /-- The index of its next turn. -/
  turn : Nat := 0
  deriving DecidableEq, Repr

/-- A resident of the engine. -/
structure Job where
  owner : Nat
  decode : Bool
  work : Nat
  grows : Bool
  deriving DecidableEq, Repr

/-- A session in a delay. -/
structure Delay where
  time : Nat
  number : Nat
  owner : Nat
  deriving DecidableEq, Repr

/-- A value observed under a name. -/
structure Observation where
  name : Nat
  session : Nat
  time : Nat
  value : Nat
  deriving DecidableEq, Repr

/-- What the statements of sessions act on. -/
structure State where
  sessions : List Session
  pools : List Pool
  /-- The residents in serving order. -/
  jobs : List Job := []
  /-- The sessions ready to run, in order. -/
  ready : List Nat := []
  /-- The pending delays, by time and event number. -/
  delays : List Delay := []
  /-- The newest first. -/
  observations : List Observation := []
  preemptions : Nat := 0
  admissions : Nat := 0
  releases : Nat := 0
  events : Nat := 0
  /-- Since the last iteration started, in order: admissions, of those the resumed ones, preemptions. -/
  admitted : List Nat := []
  resumed : List Nat := []
  preempted : List Nat := []
  /-- Since the last iteration started: the sessions whose hold of an engine-admitted pool
  ended, in order. -/
  finished : List Nat := []
  /-- The run has left the semantics: fuel was exhausted, or a growing run had no hold to grow. -/
  fault : Bool := false
  deriving DecidableEq, Repr

/-- Tokens given to a resident. `attention` is twice the attention work. -/
structure Grant where
  owner : Nat
  tokens : Nat
  decode : Bool
  attention : Nat
  deriving DecidableEq, Repr

/-- Everything an iteration leaves on record when it starts; `finished` is filled in when it ends. -/
structure Iteration where
  start : Nat
  /-- The tokens of the earlier iterations. -/
  served : Nat
  batch : List Grant
  tokens : Nat
  prefilled : Nat
  decoders : Nat
  kvDecode : Nat
  attention : Nat
  residents : Nat
  demand : Nat
  arrived : Nat
  /-- Per pool: sessions in the queue, holders, allocated units, cached units. -/
  queued : List Nat
  holders : List Nat
  allocated : List Nat
  cached : List Nat
  admitted : List Nat
  resumed : List Nat
  preempted : List Nat
  finished : List Nat := []
  deriving DecidableEq, Repr

/-- The running iteration: when it ends, and the number of that event. -/
structure Running where
  until_ : Nat
  number : Nat
  batch : List Grant
  deriving DecidableEq, Repr

/-- A whole machine. -/
structure Machine where
  now : Nat := 0
  state : State
  running : Option Running := none
  /-- The tokens of all iterations started so far. -/
  served : Nat := 0
  /-- The iterations started so far, the newest first. -/
  log : List Iteration := []
  deriving DecidableEq, Repr

namespace State

/-- A session. -/
def session (st : State) (i : Nat) : Session := nth {} i st.sessions

/-- A pool. -/
def pool (st : State) (p : Nat) : Pool := nth {} p st.pools

/-- The state with one session replaced. -/
def setSession (st : State) (i : Nat) (s : Session) : State := { st with sessions := put s i st.sessions }

/-- The state with one pool replaced. -/
def setPool (st : State) (p : Nat) (q : Pool) : State := { st with pools := put q p st.pools }

/-- The run has left the semantics. -/
def fail (st : State) : State := { st with fault := true }

/-- A session becomes ready, at the back of the ready list. -/
def wake (st : State) (i : Nat) : State :=
  { st.setSession i { st.session i with status := .ready } with ready := st.ready ++ [i] }

end State

/-- The own cached units of a session among the entries of a pool. -/
def ownSize (i : Nat) : List Entry → Nat
  | [] => 0
  | e :: es => if e.owner = some i then e.size else ownSize i es

end Serq
