module

public import Serq.Model.Run

/-!
# Runs reach machines

The machine that a run leaves at its horizon is one that its program can reach. A long run can be evaluated in
pieces.
-/

public section

namespace Serq

variable {d : Deployment} {w : Workload} {program : Code}

theorem runFrom_reaches {horizon : Nat} : ∀ (n : Nat) (m m' : Machine), Reach d w program m →
    runFrom d w horizon n m = some m' → Reach d w program m' := by
  intro n
  induction n with
  | zero => intro m m' _ h; cases h
  | succ n ih =>
    intro m m' hm h
    unfold runFrom at h
    split at h
    · cases h; exact hm
    · split at h
      · split at h
        · cases h
        · exact ih _ _ (.step hm ‹_›) h
      · cases h; exact hm

/-- **The machine a run leaves is reached.** -/
theorem run_reaches {horizon : Nat} {m : Machine} (h : run d w program horizon = some m) :
    Reach d w program m := by
  unfold run at h
  split at h
  · cases h
  · exact runFrom_reaches _ _ _ (.start ‹_›) h

/-- **More fuel changes nothing.** -/
theorem more_fuel_changes_nothing {horizon : Nat} : ∀ (n k : Nat) (m m' : Machine),
    runFrom d w horizon n m = some m' → n ≤ k → runFrom d w horizon k m = some m' := by
  intro n
  induction n with
  | zero => intro k m m' h; cases h
  | succ n ih =>
    intro k m m' h hk
    cases k with
    | zero => omega
    | succ k =>
      unfold runFrom at h ⊢
      cases hn : m.next with
      | none => simpa [hn] using h
      | some t =>
        simp only [hn] at h ⊢
        by_cases ht : t ≤ horizon
        · rw [if_pos ht] at h ⊢
          cases hs : step d w m with
          | none => simp [hs] at h
          | some m₁ =>
            simp only [hs] at h ⊢
            exact ih _ _ _ h (by omega)
        · rw [if_neg ht] at h ⊢
          exact h

/-- **Runs compose.** A run to a horizon, continued to a later one, is a run to the later one. -/
theorem runs_compose {early late : Nat} (he : early ≤ late) : ∀ (n k : Nat) (m m₁ m₂ : Machine),
    runFrom d w early n m = some m₁ → runFrom d w late k m₁ = some m₂ →
      runFrom d w late (n + k) m = some m₂ := by
  intro n
  induction n with
  | zero => intro k m m₁ m₂ h; cases h
  | succ n ih =>
    intro k m m₁ m₂ h₁ h₂
    have hstay : m = m₁ → runFrom d w late (n + 1 + k) m = some m₂ := by
      rintro rfl
      exact more_fuel_changes_nothing _ _ _ _ h₂ (by omega)
    unfold runFrom at h₁
    cases hn : m.next with
    | none => simp only [hn, Option.some.injEq] at h₁; exact hstay h₁
    | some t =>
      simp only [hn] at h₁
      by_cases ht : t ≤ early
      · rw [if_pos ht] at h₁
        cases hs : step d w m with
        | none => simp [hs] at h₁
        | some m' =>
          simp only [hs] at h₁
          have := ih k m' m₁ m₂ h₁ h₂
          rw [Nat.add_right_comm]
          unfold runFrom
          simp only [hn, hs, if_pos (Nat.le_trans ht he)]
          exact this
      · rw [if_neg ht, Option.some.injEq] at h₁
        exact hstay h₁

end Serq
