module

public import Serq.Theorems.ServedRate

/-!
# Every iteration

How a property of every iteration of every run is proved: by an invariant of machines that events and
settling keep, from which every iteration that starts has the property.
-/

public section

namespace Serq.Machine

variable {d : Deployment} {w : Workload}

/-- **every_iteration_of.** An invariant of the initial machine, kept by events, by settling and by starting
an iteration, from which a started iteration satisfies `Q`, gives `Q` for every iteration on record. -/
theorem every_iteration_of {program : Code} {I : Machine → Prop} {Q : Iteration → Prop}
    (initially : I (initial d w program))
    (handling : ∀ m m', I m → m.handle = some m' → I m')
    (settling : ∀ m, I m → I (noteFinished { m with state := settle (m.setting d w) fuel m.state }))
    (starting : ∀ m, I m → m.running = none →
      let x := m.setting d w
      I (m.begin x (x.chunk m.state) (planned x m.state)) ∧
        Q (record x m.served (x.chunk m.state) (planned x m.state)))
    (finishing : ∀ r l, Q r → Q { r with finished := l })
    {m : Machine} (h : Reach d w program m) : ∀ r ∈ m.log, Q r := by
  have hnote : ∀ m : Machine, (∀ r ∈ m.log, Q r) → ∀ r ∈ m.noteFinished.log, Q r := by
    intro m hq
    unfold noteFinished
    split
    · rename_i r₀ log _ hl
      rw [hl] at hq
      intro r hr
      rcases List.mem_cons.mp hr with rfl | hr
      · exact finishing _ _ (hq r₀ (by simp))
      · exact hq r (by simp [hr])
    · exact hq
  have hlog : ∀ m m' : Machine, m.handle = some m' → m'.log = m.log := by
    intro m m' he
    unfold handle at he
    split at he
    · cases he
    · cases he; rfl
    · cases he; rfl
    · split at he <;> (cases he; rfl)
  refine (reached_machines_satisfy (P := fun m => I m ∧ ∀ r ∈ m.log, Q r)
    ⟨initially, by simp [initial]⟩ ?_ ?_ h).2
  · intro m hm
    have hi := settling m hm.1
    have hq := hnote { m with state := settle (m.setting d w) fuel m.state } hm.2
    unfold afterEvent
    generalize noteFinished { m with state := settle (m.setting d w) fuel m.state } = m' at *
    unfold tryBegin
    split
    · exact ⟨hi, hq⟩
    · split
      · exact ⟨hi, hq⟩
      · rename_i hr _
        obtain ⟨h₁, h₂⟩ := starting m' hi hr
        refine ⟨h₁, ?_⟩
        simp only
        unfold begin
        split
        · exact hq
        · intro r hr
          rcases List.mem_cons.mp hr with rfl | hr
          · exact h₂
          · exact hq r hr
  · intro m m' hm he
    exact ⟨handling m m' hm.1 he, by rw [hlog m m' he]; exact hm.2⟩

/-- **Every iteration on record handed out at most the budget.** -/
theorem every_iteration_hands_out_at_most_the_budget {program : Code} {m : Machine}
    (h : Reach d w program m) : ∀ r ∈ m.log, r.tokens ≤ d.budget :=
  every_iteration_of (I := fun _ => True) trivial (fun _ _ _ _ => trivial) (fun _ _ => trivial)
    (fun _ _ _ => ⟨trivial, an_iteration_hands_out_at_most_the_budget _ _⟩) (fun _ _ h => h) h

end Serq.Machine
