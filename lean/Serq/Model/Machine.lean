module

public import Serq.Model.Engine

/-!
# The machine

One event at a time: the next one is the least by time and event number, and the instant settles after each.
`step` fails on a state at fault, so a run that exhausted a bound has no result.
-/

@[expose] public section

namespace Serq

namespace Machine

/-- What stays the same during the machine's present instant. -/
def setting (d : Deployment) (w : Workload) (m : Machine) : Setting := { d, w, now := m.now }

/-- The finished sessions go on record with the latest iteration. -/
def noteFinished (m : Machine) : Machine :=
  match m.state.finished, m.log with
  | _ :: _, r :: log =>
    { m with
      state := { m.state with finished := [] }
      log := { r with finished := r.finished ++ m.state.finished } :: log }
  | _, _ => m

/-- Whether a delay ends at the present time. -/
def pending (m : Machine) : Bool :=
  match m.state.delays with
  | [] => false
  | e :: _ => e.time ≤ m.now

/-- Whether an iteration would have anyone to look at. -/
def hasWork (d : Deployment) (m : Machine) : Bool :=
  match m.state.jobs with
  | _ :: _ => true
  | [] => (firstQueue m.state 0 d.pools).isSome

/-- Starts an iteration with a plan, if it comes to something: tokens, or a preemption. -/
def begin (x : Setting) (chunk : Nat) (m : Machine) (b : Plan) : Machine :=
  match b.batch, b.state.preempted with
  | [], [] => { m with state := b.state }
  | _, _ =>
    let r := record x m.served chunk b
    { m with
      state := { b.state with admitted := [], resumed := [], preempted := [], events := b.state.events + 1 }
      running := some { until_ := m.now + duration x.d r, number := b.state.events, batch := b.batch }
      served := m.served + r.tokens
      log := r :: m.log }

/-- Starts an iteration if the engine is idle and no event is pending at the present time. -/
def tryBegin (d : Deployment) (w : Workload) (m : Machine) : Machine :=
  match m.running with
  | some _ => m
  | none =>
    if m.pending || !m.hasWork d then m
    else
      let x := m.setting d w
      m.begin x (x.chunk m.state) (planned x m.state)

/-- What follows every event. -/
def afterEvent (d : Deployment) (w : Workload) (m : Machine) : Machine :=
  tryBegin d w (noteFinished { m with state := settle (m.setting d w) fuel m.state })

/-- A delay ends: its session is ready, unless it was preempted meanwhile. -/
def endDelay (e : Delay) (more : List Delay) (m : Machine) : Machine :=
  let st := { m.state with delays := more }
  let st := match (st.session e.owner).status with
    | .delay time number => if time = e.time ∧ number = e.number then st.wake e.owner else st
    | _ => st
  { m with now := e.time, state := st }

/-- The running iteration ends. -/
def endIteration (r : Running) (m : Machine) : Machine :=
  { m with now := r.until_, running := none, state := applyBatch r.batch m.state }

/-- Takes the next event, if there is one. -/
def handle (m : Machine) : Option Machine :=
  match m.running, m.state.delays with
  | none, [] => none
  | some r, [] => some (m.endIteration r)
  | none, e :: more => some (m.endDelay e more)
  | some r, e :: more =>
    if e.time < r.until_ ∨ (e.time = r.until_ ∧ e.number < r.number) then some (m.endDelay e more)
    else some (m.endIteration r)

/-- A machine, unless its state is at fault. -/
def sound (m : Machine) : Option Machine := if m.state.fault then none else some m

end Machine

/-- The machine before anything happened: every session ready, in order. -/
def initial (d : Deployment) (w : Workload) (program : Code) : Machine where
  state :=
    { sessions := w.clients.map fun c =>
        { attrs := assignAll c.presets [], code := program, status := .ready }
      pools := d.pools.map fun _ => {}
      ready := List.range w.clients.length }

/-- The first instant, settled. -/
def start (d : Deployment) (w : Workload) (program : Code) : Option Machine :=
  ((initial d w program).afterEvent d w).sound

/-- One event and what follows it. -/
def step (d : Deployment) (w : Workload) (m : Machine) : Option Machine :=
  match m.handle with
  | none => none
  | some m' => (m'.afterEvent d w).sound

/-- The machines a program can reach. -/
inductive Reach (d : Deployment) (w : Workload) (program : Code) : Machine → Prop
  | start {m : Machine} : start d w program = some m → Reach d w program m
  | step {m m' : Machine} : Reach d w program m → step d w m = some m' → Reach d w program m'

end Serq
