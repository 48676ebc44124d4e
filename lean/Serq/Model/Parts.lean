module

public import Serq.Model.Machine

/-!
# Parts of a program

The statements of a program, and what it means that a state executes only these.
-/

@[expose] public section

namespace Serq

/-- The parts of a program: itself, and what its statements contain and are followed by. -/
inductive Part (program : Code) : Code → Prop
  | whole : Part program program
  | set {slot : Nat} {e : Expr Var} {next : Code} : Part program (.set slot e next) → Part program next
  | observe {name : Nat} {e : Expr Var} {next : Code} :
      Part program (.observe name e next) → Part program next
  | turn {next : Code} : Part program (.turn next) → Part program next
  | yes {e : Expr Var} {yes no next : Code} : Part program (.branch e yes no next) → Part program yes
  | no {e : Expr Var} {yes no next : Code} : Part program (.branch e yes no next) → Part program no
  | join {e : Expr Var} {yes no next : Code} : Part program (.branch e yes no next) → Part program next
  | loop {body : Code} : Part program (.loop body) → Part program body
  | again {e : Expr Var} {body next : Code} : Part program (.while e body next) → Part program body
  | leave {e : Expr Var} {body next : Code} : Part program (.while e body next) → Part program next
  | run {place : Place} {e : Expr Var} {next : Code} : Part program (.run place e next) → Part program next
  | body {h : Header} {body next : Code} : Part program (.hold h body next) → Part program body
  | release {h : Header} {body next : Code} : Part program (.hold h body next) → Part program next

/-- What a frame goes on with is part of the program; so is the hold that a preemption executes again. -/
def Frame.Within (program : Code) : Frame → Prop
  | .rest next => Part program next
  | .loop body => Part program body
  | .again e body next => Part program (.while e body next)
  | .hold h next => Part program (.hold h.header h.body next)

/-- A session is at a part of the program, or at its end, with frames of the program. -/
structure Session.Within (program : Code) (s : Session) : Prop where
  code : s.code = .finish ∨ Part program s.code
  frames : ∀ f ∈ s.frames, f.Within program

/-- A job comes from a run of the program. -/
def Job.Within (program : Code) (j : Job) : Prop :=
  ∃ e next, Part program (.run (if j.decode then .decode j.grows else .prefill j.grows) e next)

/-- Sessions and jobs of a program. -/
structure State.Within (program : Code) (st : State) : Prop where
  sessions : ∀ s ∈ st.sessions, s.Within program
  jobs : ∀ j ∈ st.jobs, j.Within program

/-- No run of a program grows its hold. -/
def Code.neverGrows : Code → Bool
  | .done => true
  | .finish => true
  | .set _ _ next => next.neverGrows
  | .observe _ _ next => next.neverGrows
  | .turn next => next.neverGrows
  | .branch _ yes no next => yes.neverGrows && no.neverGrows && next.neverGrows
  | .loop body => body.neverGrows
  | .while _ body next => body.neverGrows && next.neverGrows
  | .run (.prefill true) _ _ => false
  | .run (.decode true) _ _ => false
  | .run _ _ next => next.neverGrows
  | .hold _ body next => body.neverGrows && next.neverGrows

end Serq
