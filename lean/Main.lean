module

public import Serq.Model.Encoding
public import Serq.Model.Fragment

/-!
# The executable

Runs a program of the fragment: `serq lean encode FILE | lake exe serq-model` prints what the sessions observed, the
steps of the engine, the preemptions, and what the pools have in the end.
-/

public section

namespace Serq.Main

/-- Numbers in a row. -/
def row (numbers : List Nat) : String := " ".intercalate (numbers.map toString)

/-- One step on a line: the tokens of each session, then who was admitted, preempted and finished. -/
def stepLine (s : Step) : String :=
  let tokens := s.tokens.map fun t => s!"{t.1}:{t.2}"
  let parts := [("admitted", s.admitted), ("preempted", s.preempted), ("finished", s.finished)]
  let rest := (parts.filter fun p => !p.2.isEmpty).map fun p => s!" {p.1} {row p.2}"
  s!"step {s.start}: {" ".intercalate tokens} allocated {s.allocated}{String.join rest}"

/-- What a run gave, line by line. -/
def lines (t : Encoding.Task) (m : Machine) : List String :=
  let observed := (List.range t.names).flatMap fun name =>
    (m.observed name).zipIdx.map fun v => s!"observed {name} session {v.2}: {row v.1}"
  let steps := (stepsOf (t.deployment.memory.getD 0) [] m.log).map stepLine
  let pools := m.state.pools.zipIdx.map fun q => s!"pool {q.2}: allocated {q.1.allocated} cached {q.1.cached}"
  observed ++ steps ++ [s!"preemptions {m.state.preemptions}"] ++ pools

/-- What the executable says of a text, or why it says nothing. -/
def answer (text : String) : Except String (List String) :=
  match Encoding.read text.toList with
  | none => .error "the input is not a program as `serq lean encode` writes it"
  | some t =>
    if InFragment t.deployment t.workload t.program then
      match run t.deployment t.workload t.program t.horizon with
      | none => .error "the run leaves the semantics"
      | some m => .ok (lines t m)
    else .error "the program is outside the fragment"

end Serq.Main

/-- Reads a program from a file or from standard input, and runs it. -/
def main (arguments : List String) : IO UInt32 := do
  let text ← match arguments with
    | [] => (← IO.getStdin).readToEnd
    | path :: _ => IO.FS.readFile path
  match Serq.Main.answer text with
  | .error reason =>
    IO.eprintln reason
    return 1
  | .ok lines =>
    for line in lines do
      IO.println line
    return 0
