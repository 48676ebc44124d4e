module

public import Serq.Model.Pieces
public import Serq.Theorems.Reaching

/-!
# Runs in pieces

Pieces of a run, one after the other, are the run: older iterations on record change nothing.
-/

public section

namespace Serq

variable {d : Deployment} {w : Workload} {program : Code}

theorem noteFinished_onto {m : Machine} (o : List Iteration) (h : m.log ≠ []) :
    (m.onto o).noteFinished = m.noteFinished.onto o ∧ m.noteFinished.log ≠ [] := by
  rcases m with ⟨now, state, running, served, log⟩
  cases log with
  | nil => exact absurd rfl h
  | cons r log =>
    unfold Machine.noteFinished Machine.onto
    cases state.finished <;> simp

theorem begin_onto (x : Setting) (chunk : Nat) (m : Machine) (b : Plan) (o : List Iteration) :
    (m.onto o).begin x chunk b = (m.begin x chunk b).onto o := by
  unfold Machine.begin Machine.onto
  split <;> rfl

theorem begin_log (x : Setting) (chunk : Nat) {m : Machine} (b : Plan) (h : m.log ≠ []) :
    (m.begin x chunk b).log ≠ [] := by
  unfold Machine.begin
  split
  · exact h
  · simp

theorem tryBegin_onto (m : Machine) (o : List Iteration) :
    (m.onto o).tryBegin d w = (m.tryBegin d w).onto o := by
  unfold Machine.tryBegin
  cases hr : m.running with
  | some r => simp [Machine.onto, hr]
  | none =>
    have hp : (m.onto o).pending = m.pending := rfl
    have hw : (m.onto o).hasWork d = m.hasWork d := rfl
    simp only [show (m.onto o).running = none from hr, hp, hw]
    split
    · rfl
    · exact begin_onto _ _ m _ o

theorem tryBegin_log {m : Machine} (h : m.log ≠ []) : (m.tryBegin d w).log ≠ [] := by
  unfold Machine.tryBegin
  split
  · exact h
  · split
    · exact h
    · exact begin_log _ _ _ h

theorem afterEvent_onto {m : Machine} (o : List Iteration) (h : m.log ≠ []) :
    (m.onto o).afterEvent d w = (m.afterEvent d w).onto o ∧ (m.afterEvent d w).log ≠ [] := by
  unfold Machine.afterEvent
  have hn := noteFinished_onto (m := { m with state := settle (m.setting d w) fuel m.state }) o h
  refine ⟨?_, tryBegin_log hn.2⟩
  rw [← tryBegin_onto, ← hn.1]
  rfl

theorem handle_onto (m : Machine) (o : List Iteration) :
    (m.onto o).handle = m.handle.map (Machine.onto o) := by
  rcases m with ⟨now, state, running, served, log⟩
  unfold Machine.handle
  cases running <;> cases hd : state.delays <;> simp only [Machine.onto, hd] <;> try rfl
  split <;> rfl

theorem handle_log {m m' : Machine} (h : m.log ≠ []) (hm : m.handle = some m') : m'.log ≠ [] := by
  unfold Machine.handle at hm
  split at hm
  · cases hm
  · cases hm; exact h
  · cases hm; exact h
  · split at hm <;> cases hm <;> exact h

theorem step_onto {m : Machine} (o : List Iteration) (h : m.log ≠ []) :
    step d w (m.onto o) = (step d w m).map (Machine.onto o) := by
  unfold step
  rw [handle_onto]
  cases hm : m.handle with
  | none => rfl
  | some m' =>
    have ha := (afterEvent_onto (d := d) (w := w) o (handle_log h hm)).1
    simp only [Option.map_some, ha]
    unfold Machine.sound
    simp only [Machine.onto]
    split <;> rfl

theorem step_log {m m' : Machine} (h : m.log ≠ []) (hm : step d w m = some m') : m'.log ≠ [] := by
  unfold step at hm
  split at hm
  · cases hm
  · rename_i m₁ h₁
    have ha := (afterEvent_onto (d := d) (w := w) [] (handle_log h h₁)).2
    unfold Machine.sound at hm
    split at hm
    · cases hm
    · cases hm; exact ha

/-- **Older iterations on record change nothing** about how a run goes on. -/
theorem runs_do_not_read_older_iterations {horizon : Nat} (o : List Iteration) : ∀ (n : Nat) (m m' : Machine),
    m.log ≠ [] → runFrom d w horizon n m = some m' →
      runFrom d w horizon n (m.onto o) = some (m'.onto o) := by
  intro n
  induction n with
  | zero => intro m m' _ h; cases h
  | succ n ih =>
    intro m m' hl h
    have hnext : (m.onto o).next = m.next := rfl
    unfold runFrom at h ⊢
    rw [hnext]
    cases hn : m.next with
    | none =>
      simp only [hn, Option.some.injEq] at h ⊢
      rw [h]
    | some t =>
      simp only [hn] at h ⊢
      by_cases ht : t ≤ horizon
      · rw [if_pos ht] at h ⊢
        rw [step_onto o hl]
        cases hs : step d w m with
        | none => simp [hs] at h
        | some m₁ =>
          simp only [hs, Option.map_some] at h ⊢
          exact ih _ _ (step_log hl hs) h
      · rw [if_neg ht, Option.some.injEq] at h ⊢
        rw [h]

theorem stepsOf_append (memory : Nat) (o : List Iteration) : ∀ (l : List Iteration) (later : List Step),
    stepsOf memory later (l ++ o) = stepsOf memory (stepsOf memory later l) o := by
  intro l
  induction l with
  | nil => intro later; rfl
  | cons r l ih => intro later; exact ih _

theorem stepsOf_later (memory : Nat) : ∀ (l : List Iteration) (later : List Step),
    stepsOf memory later l = stepsOf memory [] l ++ later := by
  intro l
  induction l with
  | nil => intro later; rfl
  | cons r l ih =>
    intro later
    show stepsOf memory (r.step memory :: later) l = stepsOf memory [r.step memory] l ++ later
    rw [ih (r.step memory :: later), ih [r.step memory], List.append_assoc]
    rfl

theorem start_of_stepsOf {memory b : Nat} : ∀ (l : List Iteration), (∀ r ∈ l, r.start < b) →
    ∀ s ∈ stepsOf memory [] l, s.start < b := by
  intro l
  induction l with
  | nil => intro _ s hs; cases hs
  | cons r l ih =>
    intro h s hs
    have hs : s ∈ stepsOf memory [r.step memory] l := hs
    rw [stepsOf_later, List.mem_append] at hs
    rcases hs with hs | hs
    · exact ih (fun r' hr' => h r' (List.mem_cons_of_mem _ hr')) s hs
    · rw [List.mem_singleton] at hs
      rw [hs]
      exact h r (List.mem_cons_self ..)

theorem steps_before_are_left_out {memory a b : Nat} {o : List Iteration} (l : List Iteration)
    (ho : ∀ r ∈ o, r.start < a) :
    (stepsOf memory [] (l ++ o)).filter (fun s => a ≤ s.start && s.start < b) =
      (stepsOf memory [] l).filter (fun s => a ≤ s.start && s.start < b) := by
  rw [stepsOf_append, stepsOf_later, List.filter_append]
  have : (stepsOf memory [] o).filter (fun s => a ≤ s.start && s.start < b) = [] := by
    rw [List.filter_eq_nil_iff]
    intro s hs
    have := start_of_stepsOf o ho s hs
    simp only [Bool.and_eq_true, decide_eq_true_eq, not_and]
    intro h
    omega
  rw [this, List.nil_append]

theorem pieceOf_some {memory a b : Nat} {m m' : Machine} {l : List Step}
    (h : pieceOf memory a b m = some (m', l)) :
    ∃ older, m = m'.onto older ∧ m'.log ≠ [] ∧ (∀ o ∈ older, o.start < b) ∧
      l = (stepsOf memory [] m.log).filter fun s => a ≤ s.start && s.start < b := by
  unfold pieceOf at h
  split at h
  · cases h
  · rename_i r older hlog
    split at h
    · rename_i hall
      cases h
      refine ⟨older, ?_, by simp, ?_, by rw [hlog]⟩
      · rcases m with ⟨now, state, running, served, log⟩
        cases hlog
        rfl
      · intro o ho
        simpa using List.all_eq_true.mp hall o ho
    · cases h

/-- **The first piece of a run passes** the machine it gives. -/
theorem passes_first_piece {b n : Nat} {m : Machine} {l : List Step}
    (h : firstPiece d w program b n = some (m, l)) : Passes d w program b n m := by
  unfold firstPiece at h
  split at h
  · cases h
  · rename_i first hs
    unfold piece at h
    split at h
    · cases h
    · rename_i m' hr
      obtain ⟨older, rfl, hl, ho, -⟩ := pieceOf_some h
      exact ⟨hl, first, older, hs, hr, ho⟩

theorem steps_of_first_piece {b n : Nat} {m : Machine} {l : List Step} (hn : n ≤ fuel)
    (h : firstPiece d w program b n = some (m, l)) : stepsWithin d w program 0 b = some l := by
  unfold firstPiece at h
  split at h
  · cases h
  · rename_i first hs
    unfold piece at h
    split at h
    · cases h
    · rename_i m' hr
      obtain ⟨older, -, -, -, rfl⟩ := pieceOf_some h
      unfold stepsWithin steps run
      simp only [hs, more_fuel_changes_nothing _ _ _ _ hr hn]

theorem piece_of_passed {a b n k : Nat} {m m' : Machine} {l : List Step} (hab : a ≤ b)
    (hp : Passes d w program a n m) (h : piece d w a b k m = some (m', l)) :
    ∃ first older m₁, start d w program = some first ∧ runFrom d w b (n + k) first = some (m₁.onto older) ∧
      (∀ o ∈ older, o.start < a) ∧ pieceOf (d.memory.getD 0) a b m₁ = some (m', l) := by
  obtain ⟨hl, first, older, hs, hr, ho⟩ := hp
  unfold piece at h
  split at h
  · cases h
  · rename_i m₁ hm
    have := runs_do_not_read_older_iterations older k m m₁ hl hm
    exact ⟨first, older, m₁, hs, runs_compose hab _ _ _ _ _ hr this, ho, h⟩

/-- **A piece from a machine that a run passes** ends at a machine that the run passes. -/
theorem passes_piece {a b n k : Nat} {m m' : Machine} {l : List Step} (hab : a ≤ b)
    (hp : Passes d w program a n m) (h : piece d w a b k m = some (m', l)) :
    Passes d w program b (n + k) m' := by
  obtain ⟨first, older, m₁, hs, hr, ho, hm⟩ := piece_of_passed hab hp h
  obtain ⟨more, rfl, hl, hmore, -⟩ := pieceOf_some hm
  refine ⟨hl, first, more ++ older, hs, ?_, ?_⟩
  · rw [hr]
    simp [Machine.onto]
  · intro o h
    rcases List.mem_append.mp h with h | h
    · exact hmore o h
    · exact Nat.lt_of_lt_of_le (ho o h) hab

/-- **The steps of a piece are the steps of the run** within its time. -/
theorem steps_of_piece {a b n k : Nat} {m m' : Machine} {l : List Step} (hab : a ≤ b) (hn : n + k ≤ fuel)
    (hp : Passes d w program a n m) (h : piece d w a b k m = some (m', l)) :
    stepsWithin d w program a b = some l := by
  obtain ⟨first, older, m₁, hs, hr, ho, hm⟩ := piece_of_passed hab hp h
  obtain ⟨-, -, -, -, rfl⟩ := pieceOf_some hm
  unfold stepsWithin steps run
  simp only [hs, more_fuel_changes_nothing _ _ _ _ hr hn, Machine.onto]
  rw [steps_before_are_left_out _ ho]

end Serq
