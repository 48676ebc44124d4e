module

public import Serq.Model.Machine

/-!
# Work ahead, remaining and in flight

The engine work of programs in which it is a function of preset attributes: straight ones, which hold nothing and
grow nothing. Nothing of it is refused, preempted or reused. Then what stays true of such programs: that work is
conserved, and that prompts in whole tiles stay so.
-/

@[expose] public section

namespace Serq

/-- The value of an expression that reads attributes only. -/
def Expr.ofAttrs (attrs : List Nat) (e : Expr Var) : Nat :=
  e.eval fun
    | .attr slot => nth 0 slot attrs
    | _ => 0

/-- An expression reads only attributes that are `preset`. -/
def Expr.readsPreset (preset : Nat → Bool) (e : Expr Var) : Bool :=
  e.all fun
    | .attr slot => preset slot
    | _ => false

/-- A straight program: no branch, no loop, no hold; its engine work reads attributes that are `preset`, and
it sets none of them. -/
def Code.isStraight (preset : Nat → Bool) : Code → Bool
  | .done => true
  | .finish => true
  | .set slot _ next => !preset slot && next.isStraight preset
  | .observe _ _ next => next.isStraight preset
  | .turn next => next.isStraight preset
  | .run .delay _ next => next.isStraight preset
  | .run (.prefill grows) e next => !grows && e.readsPreset preset && next.isStraight preset
  | .run (.decode grows) e next => !grows && e.readsPreset preset && next.isStraight preset
  | _ => false

/-- The engine work of a straight program, of a session with these attributes. -/
def Code.ahead (attrs : List Nat) : Code → Nat
  | .set _ _ next => next.ahead attrs
  | .observe _ _ next => next.ahead attrs
  | .turn next => next.ahead attrs
  | .run .delay _ next => next.ahead attrs
  | .run _ e next => e.ofAttrs attrs + next.ahead attrs
  | _ => 0

/-- The engine work that no session has begun yet. -/
def State.ahead (st : State) : Nat := sumOf (fun s => s.code.ahead s.attrs) st.sessions

/-- What the residents have left to do. -/
def State.remaining (st : State) : Nat := sumOf Job.work st.jobs

/-- The tokens of the running iteration: given out, and not yet done. -/
def Machine.inFlight (m : Machine) : Nat :=
  match m.running with
  | none => 0
  | some r => sumOf Grant.tokens r.batch

/-! ## Invariants -/

/-- What holds while an instant settles: `C` is the work left in all, `B` the running batch. -/
structure State.Conserves (preset : Nat → Bool) (C : Nat) (B : List Grant) (st : State) : Prop where
  straight : ∀ s ∈ st.sessions, s.code.isStraight preset = true ∧ s.frames = []
  queues : ∀ q ∈ st.pools, q.queue = []
  whole : st.remaining + st.ahead = C
  engine : ∀ j ∈ st.jobs, (st.session j.owner).status = .engine
  once : (st.jobs.map Job.owner).Nodup
  still : ∀ j ∈ st.jobs, j.grows = false
  covers : ∀ g ∈ B, ∃ j ∈ st.jobs, j.owner = g.owner ∧ g.tokens ≤ j.work
  calm : st.preempted = []

/-- The prompts of a program are the values of one attribute, which it sets nowhere. -/
def Code.prompts (slot : Nat) : Code → Bool
  | .done => true
  | .finish => true
  | .set k _ next => !(k == slot) && next.prompts slot
  | .observe _ _ next => next.prompts slot
  | .turn next => next.prompts slot
  | .run .delay _ next => next.prompts slot
  | .run (.decode _) _ next => next.prompts slot
  | .run (.prefill _) e next => decide (e = .var (.attr slot)) && next.prompts slot
  | _ => false

/-- Prompts, and what is left of them, are whole tiles of `size`; `B` is the running batch, `n` how many
sessions there are. -/
structure State.Tiled (slot size n : Nat) (B : List Grant) (st : State) : Prop where
  sessions : ∀ s ∈ st.sessions, s.code.prompts slot = true ∧ size ∣ nth 0 slot s.attrs
  jobs : ∀ j ∈ st.jobs, 0 < j.work ∧ (j.decode = false → size ∣ j.work)
  batch : ∀ g ∈ B, ∀ j ∈ st.jobs, j.owner = g.owner → j.decode = false → size ∣ g.tokens
  count : st.sessions.length = n

/-- Both invariants. -/
def State.Both (preset : Nat → Bool) (slot size n C : Nat) (B : List Grant) (st : State) : Prop :=
  st.Conserves preset C B ∧ st.Tiled slot size n B

/-- The batch of the running iteration. -/
def Machine.batch (m : Machine) : List Grant :=
  match m.running with
  | none => []
  | some r => r.batch

/-- The work of all sessions is `T`: served, or left and not in flight. -/
def Machine.Conserves (preset : Nat → Bool) (T : Nat) (m : Machine) : Prop :=
  ∃ C, m.state.Conserves preset C m.batch ∧ (m.batch.map Grant.owner).Nodup ∧ m.served + C = T + m.inFlight

end Serq
