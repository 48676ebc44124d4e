module

public import Serq.Model.Run

/-!
# The prefix-cache trace

Three conversations of three turns each, replayed by vLLM v1's scheduler and its cache of prefixes: a token
budget of 64, 20 usable blocks of 16, at most 64 requests, a conversation every 3 steps. For every request
the step it was sent, the tokens found in the cache, the steps of its first and of its last token are those
of the machine.
-/

@[expose] public section

namespace Serq.CacheTrace

/-! ## Slots, pools, observations -/

def turnNo : Nat := 2
def new : Nat := 3
def out : Nat := 4
def think : Nat := 5
def more : Nat := 6
def forced : Nat := 7
def computed : Nat := 8
def most : Nat := 9
def known : Nat := 10
def firstToken : Nat := 11
def before : Nat := 12

def kv : Nat := 0
def reqs : Nat := 1

def sent : Nat := 0
def cachedTokens : Nat := 1
def first : Nat := 2
def done : Nat := 3

/-! ## Program -/

/-- An attribute. -/
abbrev attr (slot : Nat) : Expr Var := .var (.attr slot)

/-- Every token the request has at an admission. -/
def knownNow : Expr Var := .max (attr most) (attr computed + 1)

/-- The tokens of the prefix that may match: all but the last after a preemption, none of a forced miss,
else those of the previous prompt. -/
def limit : Expr Var :=
  .cond (.lt 0 (attr computed)) (knownNow - 1) (.cond (attr forced) 0 (.min (attr before) (attr new - 1)))

/-- The whole blocks of a prefix in the cache that are reused. -/
def reused : Expr Var := .min (.var (.cachedIn kv)) (limit / 16 * 16)

/-- The hold of a request. -/
def header : Header where
  needs := [
    { pool := reqs, units := 1 },
    { pool := kv, units := .min knownNow (reused + .min 64 (.var .budgetLeft)), reserve := knownNow }]
  reuse := some reused
  cache := some (attr new + attr out - 1)

/-- The body of a request. -/
def body : Code :=
  .set known knownNow <|
  .set most (attr known) <|
  .observe cachedTokens (.var .cached) <|
  .run (.prefill true) (attr known - .var .cached) <|
  .branch (.eq (attr known) (attr new)) (.set firstToken (.var .now) <| .done) .done <|
  .run (.decode true) (attr out - 1 - (attr known - attr new)) <|
  .done

/-- A turn's request, and what follows it. -/
def request (next : Code) : Code :=
  .turn <|
  .observe sent (.var .now) <|
  .set most (attr new) <|
  .hold header body <|
  .observe first (attr firstToken) <|
  .observe done (.var .now) <|
  .set before (attr new) next

/-- A conversation. -/
def program : Code :=
  .run .delay (.var .serial * 3) <|
  request <|
  .while (attr more) (.run .delay (attr think) <| request .done) <|
  .finish

def deployment : Deployment where
  pools := [{ cap := 320, block := 16 }, { cap := 64, byEngine := true }]
  budget := 64
  memory := some kv

/-- A turn of 3 tokens of output. -/
def turn (new_ think_ : Nat) : List (Nat × Nat) := [(new, new_), (out, 3), (think, think_), (forced, 0)]

def workload : Workload where
  clients := [
    { turns := [turn 100 2, turn 150 2, turn 210 0] },
    { turns := [turn 120 2, turn 180 2, turn 230 0] },
    { turns := [turn 90 2, turn 140 2, turn 200 0] }]
  turnSlot := some turnNo
  moreSlot := some more
  computedSlot := some computed

theorem cache_trace_agrees :
    answer 4 deployment workload program 43
      = some
        { observed := [
            [[0, 6, 13], [3, 9, 17], [6, 12, 22]],
            [[0, 96, 0], [0, 64, 0], [0, 0, 0]],
            [[2, 9, 24], [5, 13, 30], [8, 18, 36]],
            [[4, 11, 26], [7, 15, 32], [10, 20, 38]]]
          preemptions := 0 } := by decide +kernel

end Serq.CacheTrace
