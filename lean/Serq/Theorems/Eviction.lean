module

public import Serq.Model.Cache

/-!
# Eviction

What making room does to the entries of a pool: it always ends with room or an empty cache, evicts the least
recently released first, does not depend on spare fuel, and does not touch live entries on account of dead
ones that were released before them.
-/

public section

namespace Serq

variable {cap block allocated need : Nat}

/-! ## Rounding -/

theorem le_roundUp {b : Nat} (hb : 0 < b) (n : Nat) : n ≤ roundUp b n := by
  unfold roundUp
  have h := Nat.div_add_mod (n + b - 1) b
  have := Nat.mod_lt (n + b - 1) hb
  rw [Nat.mul_comm] at h
  omega

theorem roundDown_le (b n : Nat) : roundDown b n ≤ n := Nat.div_mul_le_self n b

theorem roundUp_of_le {b n : Nat} (hn : 0 < n) (h : n ≤ b) : roundUp b n = b := by
  unfold roundUp
  have : (n + b - 1) / b = 1 := Nat.div_eq_of_lt_le (by omega) (by omega)
  simp [this]

theorem roundUp_sub_block {b n : Nat} (hb : 0 < b) (h : b < n) : roundUp b n = roundUp b (n - b) + b := by
  unfold roundUp
  have : n + b - 1 = n - b + b - 1 + b := by omega
  rw [this, Nat.add_div_right _ hb, Nat.succ_mul]

/-! ## One block -/

/-- **Eviction never changes what is allocated.** -/
theorem makeRoom_keeps_allocated (q : Pool) (cap block need : Nat) :
    (q.makeRoom cap block need).allocated = q.allocated := rfl

/-- Evicting a block takes at least one unit or one entry away. -/
theorem evictFuel_evictBlock_lt (hb : 0 < block) (e : Entry) (es : List Entry) :
    evictFuel (evictBlock block (e :: es)) < evictFuel (e :: es) := by
  simp only [evictBlock, evictFuel]
  split <;> simp [sumOf] <;> omega

/-- **One eviction strictly shrinks a cache of positive entries.** -/
theorem evictBlock_shrinks (hb : 0 < block) {e : Entry} (es : List Entry) (he : 0 < e.size) :
    sumOf Entry.size (evictBlock block (e :: es)) < sumOf Entry.size (e :: es) := by
  simp only [evictBlock]
  split <;> simp [sumOf] <;> omega

/-- **One eviction keeps entries positive.** -/
theorem evictBlock_keeps_entries_positive {es : List Entry} (h : ∀ e ∈ es, 0 < e.size) :
    ∀ e ∈ evictBlock block es, 0 < e.size := by
  cases es with
  | nil => simp [evictBlock]
  | cons a es =>
    simp only [evictBlock]
    split
    · exact fun e he => h e (by simp [he])
    · intro e he
      rcases List.mem_cons.mp he with rfl | he
      · simp; omega
      · exact h e (by simp [he])

theorem cached_evictBlock_le (es : List Entry) :
    sumOf Entry.size (evictBlock block es) ≤ sumOf Entry.size es := by
  cases es with
  | nil => simp [evictBlock]
  | cons a es => simp only [evictBlock]; split <;> simp [sumOf]

/-! ## Making room -/

/-- **Room.** With enough fuel the entries fit next to the allocation and the need, or none is left. -/
theorem evict_makes_room_or_empties (hb : 0 < block) :
    ∀ (fuel : Nat) (es : List Entry), evictFuel es ≤ fuel →
      allocated + sumOf Entry.size (evict cap block allocated need fuel es) + need ≤ cap ∨
        evict cap block allocated need fuel es = [] := by
  intro fuel
  induction fuel with
  | zero =>
    intro es h
    cases es with
    | nil => exact .inr rfl
    | cons e es => simp [evictFuel] at h
  | succ n ih =>
    intro es h
    cases es with
    | nil => exact .inr rfl
    | cons e es =>
      unfold evict
      split
      · exact .inl ‹_›
      · have := evictFuel_evictBlock_lt hb e es
        exact ih _ (by omega)

/-- Making room for what fits next to the allocation leaves room. -/
theorem makeRoom_fits {q : Pool} (hb : 0 < block) (h : q.allocated + need ≤ cap) :
    q.allocated + (q.makeRoom cap block need).cached + need ≤ cap := by
  have := evict_makes_room_or_empties (cap := cap) (allocated := q.allocated) (need := need) hb
    (evictFuel q.entries) q.entries (Nat.le_refl _)
  unfold Pool.makeRoom Pool.cached
  rcases this with h' | h'
  · exact h'
  · simp [h', sumOf]; omega

/-- **Spare fuel is irrelevant.** -/
theorem evict_does_not_depend_on_fuel (hb : 0 < block) :
    ∀ (f g : Nat) (es : List Entry), evictFuel es ≤ f → evictFuel es ≤ g →
      evict cap block allocated need f es = evict cap block allocated need g es := by
  intro f
  induction f with
  | zero =>
    intro g es hf hg
    cases es with
    | nil => cases g <;> rfl
    | cons e es => simp [evictFuel] at hf
  | succ n ih =>
    intro g es hf hg
    cases es with
    | nil => cases g <;> rfl
    | cons e es =>
      cases g with
      | zero => simp [evictFuel] at hg
      | succ m =>
        have := evictFuel_evictBlock_lt hb e es
        unfold evict
        split
        · rfl
        · exact ih m _ (by omega) (by omega)

/-- Making room never adds to the cache. -/
theorem cached_evict_le : ∀ (fuel : Nat) (es : List Entry),
    sumOf Entry.size (evict cap block allocated need fuel es) ≤ sumOf Entry.size es := by
  intro fuel
  induction fuel with
  | zero => intro es; simp [evict]
  | succ n ih =>
    intro es
    cases es with
    | nil => simp [evict]
    | cons e es =>
      unfold evict
      split
      · exact Nat.le_refl _
      · exact Nat.le_trans (ih _) (cached_evictBlock_le _)

/-- Making room keeps entries positive. -/
theorem evict_keeps_entries_positive : ∀ (fuel : Nat) (es : List Entry), (∀ e ∈ es, 0 < e.size) →
    ∀ e ∈ evict cap block allocated need fuel es, 0 < e.size := by
  intro fuel
  induction fuel with
  | zero => intro es h; simpa [evict] using h
  | succ n ih =>
    intro es h
    cases es with
    | nil => simp [evict]
    | cons e es =>
      unfold evict
      split
      · exact h
      · exact ih _ (evictBlock_keeps_entries_positive h)

/-- **Evicting entry by entry is evicting block by block.** -/
theorem evictEntries_eq_evict (hb : 0 < block) :
    ∀ (fuel : Nat) (es : List Entry), evictFuel es ≤ fuel →
      evict cap block allocated need fuel es = evictEntries cap block allocated need es := by
  intro fuel
  induction fuel with
  | zero =>
    intro es h
    cases es with
    | nil => rfl
    | cons e es => simp [evictFuel] at h
  | succ n ih =>
    intro es h
    cases es with
    | nil => rfl
    | cons e es =>
      have hlt := evictFuel_evictBlock_lt hb e es
      by_cases hf : allocated + sumOf Entry.size (e :: es) + need ≤ cap
      · have h0 : allocated + sumOf Entry.size (e :: es) + need - cap = 0 := by omega
        simp [evict, evictEntries, hf, h0]
      · rw [show evict cap block allocated need (n + 1) (e :: es)
            = evict cap block allocated need n (evictBlock block (e :: es)) by simp [evict, hf],
          ih _ (by omega)]
        have hover : allocated + sumOf Entry.size (e :: es) + need - cap ≠ 0 := by omega
        by_cases hs : e.size ≤ block
        · have := le_roundUp hb (allocated + sumOf Entry.size (e :: es) + need - cap)
          have hr : e.size ≤ roundUp block (allocated + sumOf Entry.size (e :: es) + need - cap) := by
            by_cases hob : allocated + sumOf Entry.size (e :: es) + need - cap ≤ block
            · rw [roundUp_of_le (by omega) hob]; exact hs
            · omega
          simp [evictBlock, hs, evictEntries, hover, hr]
        · by_cases hob : allocated + sumOf Entry.size (e :: es) + need - cap ≤ block
          · have hr := roundUp_of_le (by omega) hob
            have h0 : allocated + (e.size - block + sumOf Entry.size es) + need - cap = 0 := by
              simp [sumOf] at hob ⊢; omega
            simp [sumOf] at hr hover
            simp [evictBlock, hs, evictEntries, sumOf, hover, hr, h0]
          · have hr := roundUp_sub_block hb (Nat.lt_of_not_le hob)
            have hov : allocated + (e.size - block + sumOf Entry.size es) + need - cap
                = allocated + (e.size + sumOf Entry.size es) + need - cap - block := by omega
            simp only [sumOf] at hr hover hob
            have hne : allocated + (e.size + sumOf Entry.size es) + need - cap - block ≠ 0 := by omega
            simp only [evictBlock, hs, evictEntries, sumOf, hov, hr, if_false, hover, hne]
            by_cases hle : e.size - block ≤
                roundUp block (allocated + (e.size + sumOf Entry.size es) + need - cap - block)
            · have : e.size ≤
                  roundUp block (allocated + (e.size + sumOf Entry.size es) + need - cap - block)
                    + block := by
                omega
              simp [hle, this]
            · have : ¬ e.size ≤
                  roundUp block (allocated + (e.size + sumOf Entry.size es) + need - cap - block)
                    + block := by
                omega
              simp only [hle, this, if_false]
              congr 2
              omega

/-! ## Dead entries -/

theorem evictEntries_of_fits {es : List Entry}
    (h : allocated + sumOf Entry.size es + need ≤ cap) : evictEntries cap block allocated need es = es := by
  cases es with
  | nil => rfl
  | cons e es =>
    have h0 : allocated + sumOf Entry.size (e :: es) + need - cap = 0 := by omega
    simp [evictEntries, h0]

theorem liveEntries_of_dead_then_live : ∀ (dead live : List Entry), (∀ e ∈ dead, e.owner = none) →
    (∀ e ∈ live, e.owner.isSome) → liveEntries (dead ++ live) = live := by
  intro dead
  induction dead with
  | nil =>
    intro live _ hl
    simp only [List.nil_append]
    induction live with
    | nil => rfl
    | cons e live ih =>
      simp [liveEntries, hl e (by simp), ih fun x hx => hl x (by simp [hx])]
  | cons e dead ih =>
    intro live hd hl
    simp [liveEntries, hd e (by simp), ih live (fun x hx => hd x (by simp [hx])) hl]

theorem evictEntries_live {live : List Entry} (h : ∀ e ∈ live, e.owner.isSome) :
    liveEntries (evictEntries cap block allocated need live)
      = evictEntries cap block allocated need live := by
  induction live with
  | nil => rfl
  | cons e live ih =>
    have hl : ∀ x ∈ live, x.owner.isSome := fun x hx => h x (by simp [hx])
    have hk : liveEntries live = live := by simpa using liveEntries_of_dead_then_live [] live (by simp) hl
    have he := h e (by simp)
    simp only [evictEntries]
    split
    · simp [liveEntries, he, hk]
    · split
      · exact ih hl
      · simp [liveEntries, he, hk]

theorem sumOf_append {α : Type} (f : α → Nat) (l m : List α) : sumOf f (l ++ m) = sumOf f l + sumOf f m := by
  induction l with
  | nil => simp [sumOf]
  | cons a l ih => simp [sumOf, ih]; omega

/-- **Dead entries are irrelevant.** If they were all released before the live ones, making room leaves of
the live entries what it would leave without the dead ones. -/
theorem dead_entries_are_irrelevant (hb : 0 < block) {dead live : List Entry}
    (hd : ∀ e ∈ dead, e.owner = none) (hl : ∀ e ∈ live, e.owner.isSome) :
    liveEntries (evictEntries cap block allocated need (dead ++ live))
      = evictEntries cap block allocated need live := by
  induction dead with
  | nil => exact evictEntries_live hl
  | cons e dead ih =>
    have hd' : ∀ x ∈ dead, x.owner = none := fun x hx => hd x (by simp [hx])
    have hde := liveEntries_of_dead_then_live dead live hd' hl
    have hsum := sumOf_append Entry.size dead live
    simp only [List.cons_append, evictEntries]
    split
    · rename_i h0
      rw [evictEntries_of_fits (by simp [sumOf] at h0; omega)]
      simp [liveEntries, hd e (by simp), hde]
    · rename_i h0
      split
      · exact ih hd'
      · rename_i hs
        have := le_roundUp hb (allocated + sumOf Entry.size (e :: (dead ++ live)) + need - cap)
        rw [evictEntries_of_fits (by simp [sumOf] at this hs h0; omega)]
        simp [liveEntries, hd e (by simp), hde]

end Serq
