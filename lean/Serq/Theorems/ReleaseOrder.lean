module

public import Serq.Model.Entries

/-!
# Release order

Eviction takes the first entry. That is the least recently released one: the entries of a pool are in the
order of (release time, release number), which every operation on them keeps.
-/

public section

namespace Serq

theorem release_order_is_total (a b : Entry) : a.NoLater b ∨ b.NoLater a := by
  unfold Entry.NoLater; omega

theorem release_order_is_transitive {a b c : Entry} (h : a.NoLater b) (k : b.NoLater c) : a.NoLater c := by
  unfold Entry.NoLater at *; omega

/-- **The entry that eviction takes is a least one.** -/
theorem evicted_entry_is_least {e : Entry} {es : List Entry} (h : Ordered (e :: es)) :
    ∀ x ∈ e :: es, e.NoLater x := by
  intro x hx
  rcases List.mem_cons.mp hx with rfl | hx
  · exact .inr ⟨rfl, Nat.le_refl _⟩
  · exact h.1 x hx

theorem evictBlock_keeps_release_order {block : Nat} {es : List Entry} (h : Ordered es) :
    Ordered (evictBlock block es) := by
  cases es with
  | nil => exact h
  | cons e es =>
    simp only [evictBlock]
    split
    · exact h.2
    · exact ⟨fun x hx => h.1 x hx, h.2⟩

/-- Making room keeps the release order. -/
theorem evict_keeps_release_order {cap block allocated need : Nat} :
    ∀ (fuel : Nat) (es : List Entry), Ordered es → Ordered (evict cap block allocated need fuel es) := by
  intro fuel
  induction fuel with
  | zero => intro es h; simpa [evict] using h
  | succ n ih =>
    intro es h
    cases es with
    | nil => trivial
    | cons e es =>
      unfold evict
      split
      · exact h
      · exact ih _ (evictBlock_keeps_release_order h)

theorem consume_stamps {i : Nat} {amount : Nat → Nat} {es : List Entry} {x : Entry}
    (h : x ∈ (consume i amount es).2) : ∃ y ∈ es, x.time = y.time ∧ x.number = y.number := by
  induction es with
  | nil => simp [consume] at h
  | cons e es ih =>
    unfold consume at h
    split at h
    · split at h
      · exact ⟨x, by simp [h], rfl, rfl⟩
      · rcases List.mem_cons.mp h with rfl | h
        · exact ⟨e, by simp, rfl, rfl⟩
        · exact ⟨x, by simp [h], rfl, rfl⟩
    · rcases List.mem_cons.mp h with rfl | h
      · exact ⟨x, by simp, rfl, rfl⟩
      · obtain ⟨y, hy, e₁, e₂⟩ := ih h
        exact ⟨y, by simp [hy], e₁, e₂⟩

/-- Consuming an own prefix keeps the release order: what stays dead keeps its stamp. -/
theorem consume_keeps_release_order {i : Nat} {amount : Nat → Nat} {es : List Entry} (h : Ordered es) :
    Ordered (consume i amount es).2 := by
  induction es with
  | nil => exact h
  | cons e es ih =>
    unfold consume
    split
    · split
      · exact h.2
      · exact ⟨fun x hx => h.1 x hx, h.2⟩
    · refine ⟨fun x hx => ?_, ih h.2⟩
      obtain ⟨y, hy, e₁, e₂⟩ := consume_stamps hx
      have := h.1 y hy
      unfold Entry.NoLater at *; omega

theorem mem_of_mem_dropOwn {i : Nat} {es : List Entry} {x : Entry} (h : x ∈ dropOwn i es) : x ∈ es := by
  induction es with
  | nil => simp [dropOwn] at h
  | cons e es ih =>
    unfold dropOwn at h
    split at h
    · exact List.mem_cons_of_mem _ (ih h)
    · rcases List.mem_cons.mp h with rfl | h
      · simp
      · exact List.mem_cons_of_mem _ (ih h)

theorem dropOwn_keeps_release_order {i : Nat} {es : List Entry} (h : Ordered es) :
    Ordered (dropOwn i es) := by
  induction es with
  | nil => exact h
  | cons e es ih =>
    unfold dropOwn
    split
    · exact ih h.2
    · exact ⟨fun x hx => h.1 x (mem_of_mem_dropOwn hx), ih h.2⟩

theorem ordered_append {es : List Entry} {e : Entry} (h : Ordered es) (hl : ∀ x ∈ es, x.NoLater e) :
    Ordered (es ++ [e]) := by
  induction es with
  | nil => exact ⟨by simp, trivial⟩
  | cons a es ih =>
    refine ⟨fun x hx => ?_, ih h.2 fun x hx => hl x (by simp [hx])⟩
    rcases List.mem_append.mp hx with hx | hx
    · exact h.1 x hx
    · simp at hx; subst hx; exact hl a (by simp)

/-- Keeping a prefix puts it last, stamped no earlier than any other: the release order is kept. -/
theorem keep_keeps_release_order {i size time number : Nat} {es : List Entry} (h : Ordered es)
    (hl : ∀ x ∈ es, x.NoLater { owner := some i, size, time, number }) :
    Ordered (keep i size time number es) :=
  ordered_append (dropOwn_keeps_release_order h) fun x hx => hl x (mem_of_mem_dropOwn hx)

/-! ## Entries in order -/

variable {now releases : Nat} {es : List Entry}

theorem evictBlock_keeps_entries_in_order {block : Nat} (h : InOrder now releases es) :
    InOrder now releases (evictBlock block es) := by
  refine ⟨evictBlock_keeps_release_order h.ordered, ?_⟩
  cases es with
  | nil => exact h.stamped
  | cons a es =>
    have ha := h.stamped a (by simp)
    simp only [evictBlock]
    split
    · exact fun e he => h.stamped e (by simp [he])
    · intro e he
      rcases List.mem_cons.mp he with rfl | he
      · exact ⟨by simp; omega, ha.time, ha.number⟩
      · exact h.stamped e (by simp [he])

theorem evict_keeps_entries_in_order {cap block allocated need : Nat} : ∀ (fuel : Nat) (es : List Entry),
    InOrder now releases es → InOrder now releases (evict cap block allocated need fuel es) := by
  intro fuel
  induction fuel with
  | zero => intro es h; simpa [evict] using h
  | succ n ih =>
    intro es h
    cases es with
    | nil => exact h
    | cons e es =>
      unfold evict
      split
      · exact h
      · exact ih _ (evictBlock_keeps_entries_in_order h)

theorem consume_keeps_entries_in_order {i : Nat} {amount : Nat → Nat} (h : InOrder now releases es) :
    InOrder now releases (consume i amount es).2 := by
  refine ⟨consume_keeps_release_order h.ordered, ?_⟩
  have hs := h.stamped
  clear h
  induction es with
  | nil => exact hs
  | cons a es ih =>
    have ha := hs a (by simp)
    have ht : ∀ e ∈ es, e.Stamped now releases := fun e he => hs e (by simp [he])
    unfold consume
    split
    · split
      · exact ht
      · intro e he
        rcases List.mem_cons.mp he with rfl | he
        · exact ⟨by simp; omega, ha.time, ha.number⟩
        · exact ht e he
    · intro e he
      rcases List.mem_cons.mp he with rfl | he
      · exact ha
      · exact ih ht e he

theorem keep_keeps_entries_in_order {i size : Nat} (hs : 0 < size) (h : InOrder now releases es) :
    InOrder now (releases + 1) (keep i size now releases es) := by
  refine ⟨keep_keeps_release_order h.ordered fun x hx => ?_, fun e he => ?_⟩
  · have := h.stamped x hx
    have h₁ := this.time
    have h₂ := this.number
    unfold Entry.NoLater
    simp only
    omega
  · rcases List.mem_append.mp he with he | he
    · have := h.stamped e (mem_of_mem_dropOwn he)
      exact ⟨this.size, this.time, Nat.lt_succ_of_lt this.number⟩
    · simp at he
      subst he
      exact ⟨hs, Nat.le_refl _, Nat.lt_succ_self _⟩

theorem InOrder.later {now' releases' : Nat} (h : InOrder now releases es) (hn : now ≤ now')
    (hr : releases ≤ releases') : InOrder now' releases' es :=
  ⟨h.ordered, fun e he => ⟨(h.stamped e he).size, Nat.le_trans (h.stamped e he).time hn,
    Nat.lt_of_lt_of_le (h.stamped e he).number hr⟩⟩

end Serq
