module

public import Serq.Model.Greedy

/-!
# Greedy fill and serving order

Filling wants in order uses up the budget or satisfies everyone; serving in order, without a chunk cap,
keeps decodes before prefills, so that it is the same as serving the decodes first. A chunk cap breaks this.
-/

public section

namespace Serq.Greedy

/-! ## Fill -/

/-- **No one gets more than it wants.** -/
theorem fill_gives_at_most_what_is_wanted (ws : List Nat) : ∀ budget k : Nat,
    nth 0 k (fill budget ws) ≤ nth 0 k ws := by
  induction ws with
  | nil => intro b k; cases k <;> simp [fill, nth_nil]
  | cons w ws ih =>
    intro b k
    cases k with
    | zero => simp only [fill, nth_zero, least]; split <;> omega
    | succ k => simpa [fill, nth_succ] using ih _ k

/-- **Fill gives out the lesser of the budget and the wants.** -/
theorem fill_gives_the_lesser_of_budget_and_wants (ws : List Nat) : ∀ budget : Nat,
    sumOf id (fill budget ws) = least budget (sumOf id ws) := by
  induction ws with
  | nil => intro b; simp only [fill, sumOf, least]; split <;> omega
  | cons w ws ih =>
    intro b
    simp only [fill, sumOf, ih, id]
    unfold least
    repeat' split
    all_goals omega

theorem fill_of_nothing (ws : List Nat) : ∀ k : Nat, nth 0 k (fill 0 ws) = 0 := by
  induction ws with
  | nil => intro k; cases k <;> rfl
  | cons w ws ih =>
    intro k
    cases k with
    | zero => simp only [fill, nth_zero, least]; split <;> omega
    | succ k => simpa [fill, nth_succ] using ih k

/-- **If a later one gets something, every earlier one got all it wanted.** -/
theorem fill_satisfies_earlier_wants_first (ws : List Nat) : ∀ budget i k : Nat, i < k →
    0 < nth 0 k (fill budget ws) → nth 0 i (fill budget ws) = nth 0 i ws := by
  induction ws with
  | nil => intro b i k _ _; cases i <;> rfl
  | cons w ws ih =>
    intro b i k hik hk
    cases k with
    | zero => omega
    | succ k =>
      simp only [fill, nth_succ] at hk
      cases i with
      | zero =>
        simp only [fill]
        by_cases hw : w ≤ b
        · simp [least, hw]
        · have : b - least w b = 0 := by simp [least, hw]
          rw [this, fill_of_nothing] at hk
          omega
      | succ i => simpa [fill, nth_succ] using ih _ i k (by omega) hk

/-! ## Serving order -/

theorem serve_of_nothing (chunk : Nat) (l : List Nat) : serve chunk 0 l = l := by
  induction l with
  | nil => rfl
  | cons r l ih =>
    have : least (want chunk r) 0 = 0 := by unfold least; split <;> omega
    simp [serve, this, ih]

theorem shape_of_prefills {l : List Nat} (h : ∀ s ∈ l, s ≠ 0) : Shape l := by
  induction l with
  | nil => trivial
  | cons r l ih => exact ⟨.inr fun s hs => h s (by simp [hs]), ih fun s hs => h s (by simp [hs])⟩

/-- **A greedy step without a chunk cap keeps decodes before prefills.** -/
theorem serving_keeps_decodes_before_prefills {l : List Nat} (h : Shape l) : ∀ budget : Nat,
    Shape (serve 0 budget l) := by
  induction l with
  | nil => exact fun _ => trivial
  | cons r l ih =>
    intro b
    unfold serve
    refine ⟨?_, ih h.2 _⟩
    by_cases hr : r = 0
    · subst hr; exact .inl (by simp)
    · by_cases hb : r ≤ b
      · left; simp [want, hr, least, hb]
      · right
        have hz : b - least (want 0 r) b = 0 := by simp [want, hr, least, hb]
        rw [hz, serve_of_nothing]
        exact h.1.resolve_left hr

/-- **Appending a prefill keeps decodes before prefills.** -/
theorem appending_a_prefill_keeps_decodes_before_prefills {l : List Nat} {r : Nat} (h : Shape l)
    (hr : r ≠ 0) : Shape (l ++ [r]) := by
  induction l with
  | nil => exact ⟨.inr (by simp), trivial⟩
  | cons s l ih =>
    refine ⟨?_, ih h.2⟩
    rcases h.1 with h₁ | h₁
    · exact .inl h₁
    · refine .inr fun t ht => ?_
      rcases List.mem_append.mp ht with ht | ht
      · exact h₁ t ht
      · simp at ht; subst ht; exact hr

theorem prefills_of_prefills {l : List Nat} (h : ∀ s ∈ l, s ≠ 0) : prefills l = l ∧ decodes l = [] := by
  induction l with
  | nil => exact ⟨rfl, rfl⟩
  | cons r l ih =>
    obtain ⟨h₁, h₂⟩ := ih fun s hs => h s (by simp [hs])
    have hr := h r (by simp)
    simp [prefills, decodes, hr, h₁, h₂]

/-- **serve_eq_decode_first.** Where decodes come before prefills, serving in order is serving
decodes first. -/
theorem serve_eq_decode_first {l : List Nat} (h : Shape l) (chunk budget : Nat) :
    serve chunk budget l = serve chunk budget (decodes l ++ prefills l) := by
  suffices hl : decodes l ++ prefills l = l by rw [hl]
  induction l with
  | nil => rfl
  | cons r l ih =>
    by_cases hr : r = 0
    · simp [decodes, prefills, hr, ih h.2]
    · obtain ⟨h₁, h₂⟩ := prefills_of_prefills (h.1.resolve_left hr)
      simp [decodes, prefills, hr, h₁, h₂]

/-- **chunk_cap_breaks_shape.** With a chunk cap of 4 and a budget of 8, prefills of 5 and 3 become 1 and a
decode behind it. -/
theorem chunk_cap_breaks_shape : serve 4 8 [5, 3] = [1, 0] ∧ Shape [5, 3] ∧ ¬ Shape [1, 0] := by
  refine ⟨by decide, by simp [Shape], by simp [Shape]⟩

end Serq.Greedy
