module

public import Serq.Model.Run

/-!
# One request of vLLM v1

The program behind the recorded scenarios. A request arrives at a given step, waits until its whole prompt
fits next to what is allocated, is prefilled in chunks with the budget the others leave, and decodes one
token a step. A preempted request keeps its tokens, goes back to the front of the queue and computes them
again. `first` and `done` count completed steps.
-/

@[expose] public section

namespace Serq.Request

/-! ## Slots, pools, observations -/

def computed : Nat := 0
def prompt : Nat := 1
def out : Nat := 2
def arrive : Nat := 3
/-- The most tokens an attempt has had. -/
def most : Nat := 4
/-- Every token the request has now. -/
def known : Nat := 5
/-- When its first token was computed. -/
def firstToken : Nat := 6

def kv : Nat := 0
def reqs : Nat := 1

def first : Nat := 0
def done : Nat := 1

/-! ## Program -/

/-- An attribute. -/
abbrev attr (slot : Nat) : Expr Var := .var (.attr slot)

/-- Every token the request has at an admission. -/
def knownNow : Expr Var := .max (attr most) (attr computed + 1)

/-- A first chunk of at most `chunk` tokens, reserving what `reserve` says. -/
def needs (chunk : Nat) (reserve : Expr Var) : List Need := [
  { pool := reqs, units := 1 },
  { pool := kv, units := .min knownNow (.min (.lit chunk) (.var .budgetLeft)), reserve }]

/-- The program, given the needs of its hold. -/
def programWith (needs : List Need) : Code :=
  .run .delay (attr arrive) <|
  .set most (attr prompt) <|
  .hold { needs }
    (.set known knownNow <|
      .set most (attr known) <|
      .run (.prefill true) (attr known) <|
      .branch (.eq (attr known) (attr prompt)) (.set firstToken (.var .now) <| .done) .done <|
      .run (.decode true) (attr out - 1 - (attr known - attr prompt)) <|
      .done) <|
  .observe first (attr firstToken) <|
  .observe done (.var .now) <|
  .finish

/-- The program of a scenario whose first chunk is at most `chunk`. -/
def program (chunk : Nat) : Code := programWith (needs chunk knownNow)

/-! ## Deployments and workloads -/

/-- An engine with a token budget, request slots, memory units, and a cap on chunks unless a
request is alone. -/
def deployment (budget slots memory chunk : Nat) : Deployment where
  pools := [{ cap := memory, block := 16 }, { cap := slots, byEngine := true }]
  budget
  chunk := .cond (.lt 1 (.var .residents + .var (.queued reqs))) (.lit chunk) 0
  memory := some kv

/-- A request: the tokens of its prompt, the tokens to generate, the step at which it arrives. -/
def client (prompt_ out_ arrive_ : Nat) : Client where
  presets := [(prompt, prompt_), (out, out_), (arrive, arrive_)]

/-- Requests. -/
def workload (clients : List Client) : Workload where
  clients
  computedSlot := some computed

end Serq.Request
