module

public import Serq.Model.Ledger

/-!
# Pool algebra

The five commands on a pool keep every entry at least 0 and keep allocated plus cached within the capacity,
whatever the order of eviction; and admission looks at allocations only.
-/

public section

namespace Serq.Ledger

theorem total_perm {l m : List Amount} (h : l.Perm m) : total l = total m := by
  induction h with
  | nil => rfl
  | cons a _ ih => simp [total, ih]
  | swap a b l => simp [total]; omega
  | trans _ _ ih₁ ih₂ => exact ih₁.trans ih₂

theorem total_append (l m : List Amount) : total (l ++ m) = total l + total m := by
  induction l with
  | nil => simp [total]
  | cons a l ih => simp [total, ih]; omega

theorem Nonneg.total_nonneg {l : List Amount} (h : Nonneg l) : 0 ≤ total l := by
  induction l with
  | nil => simp [total]
  | cons a l ih =>
    have h₁ := h a (by simp)
    have h₂ := ih fun x hx => h x (by simp [hx])
    simp [total]; omega

theorem Nonneg.perm {l m : List Amount} (h : Nonneg l) (p : l.Perm m) : Nonneg m :=
  fun a ha => h a (p.mem_iff.mpr ha)

/-- Evicting keeps entries at least 0. -/
theorem evictTo_keeps_entries_nonneg {bound : Int} {l : List Amount} (h : Nonneg l) :
    Nonneg (evictTo bound l) := by
  induction l with
  | nil => simpa [evictTo] using h
  | cons a l ih =>
    have hl : Nonneg l := fun x hx => h x (by simp [hx])
    unfold evictTo
    split
    · exact h
    · split
      · intro x hx
        rcases List.mem_cons.mp hx with rfl | hx
        · simp; omega
        · exact hl x hx
      · exact ih hl

/-- **Eviction bound.** Evicting from the front until at most `bound` remains leaves at most `bound`. -/
theorem evictTo_leaves_at_most_the_bound {bound : Int} (hb : 0 ≤ bound) (l : List Amount) :
    total (evictTo bound l) ≤ bound := by
  induction l with
  | nil => simpa [evictTo, total] using hb
  | cons a l ih =>
    unfold evictTo
    split
    · simpa [total]
    · split
      · simp [total]
      · exact ih

/-- **Non-negativity.** Every command keeps all entries at least 0. -/
theorem commands_keep_entries_nonneg {cap : Int} {b b' : Book} (c : Command cap b b') (h : b.Nonneg) :
    b'.Nonneg := by
  obtain ⟨hw, hh, hk⟩ := h
  cases c with
  | queue i u hu =>
    refine ⟨fun a ha => ?_, hh, hk⟩
    rcases List.mem_append.mp ha with ha | ha
    · exact hw a ha
    · simp at ha; subst ha; exact hu
  | accept i u order rest hm hp _ ho =>
    have hw' := hw.perm hp
    refine ⟨fun a ha => hw' a (by simp [ha]), fun a ha => ?_, ?_⟩
    · rcases List.mem_cons.mp ha with rfl | ha
      · exact hw' _ (by simp)
      · exact hh a ha
    · exact evictTo_keeps_entries_nonneg (hk.perm ho.symm)
  | free i c l rest hp hl _ =>
    have hh' := hh.perm hp
    refine ⟨hw, fun a ha => hh' a (by simp [ha]), fun a ha => ?_⟩
    rcases List.mem_append.mp ha with ha | ha
    · exact hk a ha
    · simp at ha; subst ha; exact hl
  | drop a rest hp =>
    have hk' := hk.perm hp
    exact ⟨hw, hh, fun x hx => hk' x (by simp [hx])⟩
  | leave a rest hp =>
    have hw' := hw.perm hp
    exact ⟨fun x hx => hw' x (by simp [hx]), hh, hk⟩

/-- **The invariant.** If entries are at least 0 and allocated plus cached fit before a command, they
fit after. -/
theorem commands_keep_allocated_and_cached_within_capacity {cap : Int} {b b' : Book}
    (c : Command cap b b') (h : b.Nonneg) (hw : b.Within cap) : b'.Within cap := by
  unfold Book.Within at *
  cases c with
  | queue => exact hw
  | accept i u order rest _ _ hf _ =>
    have := evictTo_leaves_at_most_the_bound (bound := cap - total b.held - u) (by omega) order
    simp [total]; omega
  | free i c l rest hp _ hl =>
    have := total_perm hp
    simp [total, total_append] at *; omega
  | drop a rest hp =>
    have h₁ := total_perm hp
    have h₂ := h.2.2.perm hp a (by simp)
    simp [total] at *; omega
  | leave => exact hw

/-- **The guard counts allocation only.** A pool with nothing allocated admits any request up to its
capacity, however much is cached. -/
theorem a_pool_full_of_cache_still_admits {cap : Int} (i : Nat) (u : Int) (kept : List Amount)
    (hu : u ≤ cap) :
    Command cap { waiting := [(i, u)], held := [], kept }
      { waiting := [], held := [(i, u)], kept := evictTo (cap - total [] - u) kept } :=
  .accept { waiting := [(i, u)], held := [], kept } i u kept [] (by simp) (List.Perm.refl _)
    (by simpa [total] using hu) (List.Perm.refl _)

end Serq.Ledger
