module

public import Serq.Model.Machine

/-!
# Work ahead, remaining and in flight

The engine work of programs in which it is a function of preset attributes: straight ones, which hold nothing and
grow nothing. Nothing of it is refused, preempted or reused.
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

end Serq
