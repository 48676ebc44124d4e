module

public import Serq.Model.Covered
public import Serq.Theorems.Eviction

/-!
# Accounting

How the memory invariant follows the parts of a state: replacing a session, replacing a pool, taking units,
giving units back.
-/

public section

namespace Serq

/-! ## Lists -/

theorem nth_put {α : Type} (d b : α) : ∀ (i j : Nat) (l : List α),
    nth d j (put b i l) = if j = i ∧ i < l.length then b else nth d j l := by
  intro i
  induction i with
  | zero =>
    intro j l
    cases l with
    | nil => cases j <;> simp
    | cons a l => cases j <;> simp
  | succ i ih =>
    intro j l
    cases l with
    | nil => cases j <;> simp
    | cons a l =>
      cases j with
      | zero => simp
      | succ j => simp [ih]

theorem nth_beyond {α : Type} (d : α) : ∀ (i : Nat) (l : List α), l.length ≤ i → nth d i l = d := by
  intro i
  induction i with
  | zero => intro l h; cases l with
    | nil => rfl
    | cons a l => simp at h
  | succ i ih => intro l h; cases l with
    | nil => rfl
    | cons a l => simpa using ih l (by simpa using h)

theorem nth_mem {α : Type} (d : α) : ∀ (i : Nat) (l : List α), i < l.length → nth d i l ∈ l := by
  intro i
  induction i with
  | zero => intro l h; cases l with
    | nil => simp at h
    | cons a l => simp
  | succ i ih => intro l h; cases l with
    | nil => simp at h
    | cons a l => exact List.mem_cons_of_mem _ (ih l (by simpa using h))

theorem mem_put {α : Type} {b x : α} : ∀ {i : Nat} {l : List α}, x ∈ put b i l → x = b ∨ x ∈ l := by
  intro i
  induction i with
  | zero => intro l h; cases l with
    | nil => simp at h
    | cons a l => simp at h; rcases h with h | h <;> simp [h]
  | succ i ih => intro l h; cases l with
    | nil => simp at h
    | cons a l =>
      rcases List.mem_cons.mp h with rfl | h
      · simp
      · rcases ih h with h | h <;> simp [h]

theorem put_beyond {α : Type} (b : α) : ∀ (i : Nat) (l : List α), l.length ≤ i → put b i l = l := by
  intro i
  induction i with
  | zero => intro l h; cases l with
    | nil => rfl
    | cons a l => simp at h
  | succ i ih => intro l h; cases l with
    | nil => rfl
    | cons a l => simp [ih l (by simpa using h)]

theorem length_put {α : Type} (b : α) : ∀ (i : Nat) (l : List α), (put b i l).length = l.length := by
  intro i
  induction i with
  | zero => intro l; cases l <;> rfl
  | succ i ih => intro l; cases l with
    | nil => rfl
    | cons a l => simp [ih]

theorem sumOf_put {α : Type} (f : α → Nat) (d b : α) : ∀ (i : Nat) (l : List α), i < l.length →
    sumOf f (put b i l) + f (nth d i l) = sumOf f l + f b := by
  intro i
  induction i with
  | zero => intro l h; cases l with
    | nil => simp at h
    | cons a l => simp [sumOf]; omega
  | succ i ih => intro l h; cases l with
    | nil => simp at h
    | cons a l =>
      have := ih l (by simpa using h)
      simp [sumOf]; omega

/-! ## States -/

theorem pool_setPool (st : State) (p r : Nat) (q : Pool) :
    (st.setPool p q).pool r = if r = p ∧ p < st.pools.length then q else st.pool r := nth_put _ _ _ _ _

theorem pool_beyond {st : State} {p : Nat} (h : st.pools.length ≤ p) : st.pool p = {} := nth_beyond _ _ _ h

theorem session_beyond {st : State} {i : Nat} (h : st.sessions.length ≤ i) : st.session i = {} :=
  nth_beyond _ _ _ h

theorem session_setSession (st : State) (i j : Nat) (s : Session) :
    (st.setSession i s).session j = if j = i ∧ i < st.sessions.length then s else st.session j :=
  nth_put _ _ _ _ _

theorem held_setSession (st : State) {i : Nat} (s : Session) (p : Nat) (h : i < st.sessions.length) :
    (st.setSession i s).held p + heldIn p (st.session i).frames = st.held p + heldIn p s.frames :=
  sumOf_put _ _ _ _ _ h

theorem held_setSession_same (st : State) (i : Nat) (s : Session) (p : Nat)
    (h : heldIn p s.frames = heldIn p (st.session i).frames) : (st.setSession i s).held p = st.held p := by
  by_cases hi : i < st.sessions.length
  · have := held_setSession st s p hi
    omega
  · unfold State.setSession State.held
    rw [put_beyond _ _ _ (Nat.le_of_not_lt hi)]

variable {d : Deployment} {K : Nat → Prop} {extra : Nat → Nat} {st : State}

theorem good_default : ({} : Session).Good d K := ⟨trivial, by simp⟩

namespace State.Accounted

theorem session (h : st.Accounted d K extra) (i : Nat) : (st.session i).Good d K := by
  by_cases hi : i < st.sessions.length
  · exact h.good _ (nth_mem _ _ _ hi)
  · rw [session_beyond (Nat.le_of_not_lt hi)]; exact good_default

/-- A session is replaced by one that holds the same. -/
theorem setSession (h : st.Accounted d K extra) {i : Nat} {s : Session} (hs : s.Good d K)
    (he : ∀ p, heldIn p s.frames = heldIn p (st.session i).frames) :
    (st.setSession i s).Accounted d K extra where
  good := fun t ht => by
    rcases mem_put ht with rfl | ht
    · exact hs
    · exact h.good t ht
  allocated p := by rw [held_setSession_same _ _ _ _ (he p)]; exact h.allocated p
  fits := h.fits
  pools := h.pools

/-- A session comes to hold more, or less. -/
theorem setFrames (h : st.Accounted d K extra) {i : Nat} {s : Session} {extra' : Nat → Nat} (hs : s.Good d K)
    (hi : i < st.sessions.length)
    (he : ∀ p, heldIn p s.frames + extra' p = heldIn p (st.session i).frames + extra p) :
    (st.setSession i s).Accounted d K extra' where
  good := fun t ht => by
    rcases mem_put ht with rfl | ht
    · exact hs
    · exact h.good t ht
  allocated p := by
    have h₁ := held_setSession st s p hi
    have h₂ := h.allocated p
    have h₃ := he p
    show (st.pool p).allocated = _
    omega
  fits := h.fits
  pools := h.pools

/-- A pool is replaced. -/
theorem setPool (h : st.Accounted d K extra) {p : Nat} {q : Pool} {extra' : Nat → Nat}
    (ho : ∀ r, r ≠ p → extra' r = extra r) (ha : q.allocated = st.held p + extra' p)
    (hf : K p → q.allocated + q.cached ≤ (d.pool p).cap)
    (hb : st.pools.length ≤ p → extra' p = extra p) : (st.setPool p q).Accounted d K extra' where
  good := h.good
  allocated r := by
    rw [pool_setPool]
    show _ = st.held r + extra' r
    split
    · rename_i hr; rw [hr.1]; exact ha
    · rename_i hr
      rw [h.allocated r]
      by_cases hrp : r = p
      · rw [hrp, hb (by omega)]
      · rw [ho r hrp]
  fits r hk := by
    rw [pool_setPool]
    split
    · rename_i hr; rw [hr.1]; exact hf (hr.1 ▸ hk)
    · exact h.fits r hk
  pools := (length_put _ _ _).trans h.pools

/-- A pool is replaced by one with the same allocation and entries. -/
theorem setPool_same (h : st.Accounted d K extra) {p : Nat} {q : Pool}
    (ha : q.allocated = (st.pool p).allocated) (he : q.entries = (st.pool p).entries) :
    (st.setPool p q).Accounted d K extra :=
  h.setPool (fun _ _ => rfl) (ha.trans (h.allocated p))
    (fun hk => by unfold Pool.cached; rw [ha, he]; exact h.fits p hk) (fun _ => rfl)

end State.Accounted

/-! ## Giving back -/

theorem cached_dropOwn_le (i : Nat) (es : List Entry) :
    sumOf Entry.size (dropOwn i es) ≤ sumOf Entry.size es := by
  induction es with
  | nil => simp [dropOwn]
  | cons e es ih => unfold dropOwn; split <;> simp [sumOf] <;> omega

theorem cached_giveBack_le (q : Pool) (i units kept time number : Nat) :
    (q.giveBack i units kept time number).cached ≤ q.cached + kept := by
  unfold Pool.giveBack Pool.cached
  simp only
  split
  · omega
  · have := cached_dropOwn_le i q.entries
    simp [keep, sumOf_append, sumOf]; omega

theorem kept_le (block wanted computed : Nat) : kept block wanted computed ≤ computed := by
  have := roundDown_le block (if wanted ≤ computed then wanted else computed)
  unfold kept
  split at this <;> split <;> omega

theorem giveBack_accounted {x : Setting} {i : Nat} {cache : Option (Expr Var)} {s : Share} {l : List Share}
    {computed : Nat} (hc : K s.pool → computed ≤ s.units)
    (h : st.Accounted x.d K (plusShares extra (s :: l))) :
    (giveBack x i cache s computed st).Accounted x.d K (plusShares extra l) := by
  have hk : ∀ k, (K s.pool → k ≤ s.units) →
      (st.giveBack x.now i s.pool s.units k).Accounted x.d K (plusShares extra l) := by
    intro k hk
    have ha := h.allocated s.pool
    simp only [plusShares, sharesIn, sumOf, if_true] at ha
    have hg := cached_giveBack_le (st.pool s.pool) i s.units k x.now st.releases
    have hp : (st.setPool s.pool ((st.pool s.pool).giveBack i s.units k x.now st.releases)).Accounted x.d K
        (plusShares extra l) := by
      refine h.setPool ?_ ?_ ?_ ?_
      · intro r hr
        simp [plusShares, sharesIn, sumOf, Ne.symm hr]
      · show (st.pool s.pool).allocated - s.units = _
        simp only [plusShares, sharesIn]; omega
      · intro hK
        have hf := h.fits s.pool hK
        have hk := hk hK
        show (st.pool s.pool).allocated - s.units + _ ≤ _
        omega
      · intro hb
        rw [pool_beyond hb] at ha
        simp only [plusShares, sharesIn, sumOf, if_true] at ha ⊢
        have : (0 : Nat) = st.held s.pool + _ := ha
        omega
    exact ⟨hp.good, hp.allocated, hp.fits, hp.pools⟩
  unfold giveBack
  split
  · exact hk 0 fun _ => Nat.zero_le _
  · exact hk _ fun hK => Nat.le_trans (kept_le _ _ _) (hc hK)

theorem giveBackAll_accounted {x : Setting} {i : Nat} {cache : Option (Expr Var)} {positional : Bool} :
    ∀ (l : List Share) (st : State), (∀ s ∈ l, K s.pool → s.position ≤ s.units) →
      st.Accounted x.d K (plusShares extra l) →
      (giveBackAll x i cache positional l st).Accounted x.d K extra := by
  intro l
  induction l with
  | nil => exact fun st _ h => by simpa [plusShares, sharesIn, sumOf, giveBackAll] using h
  | cons s l ih =>
    intro st hs h
    unfold giveBackAll
    refine ih _ (fun t ht => hs t (by simp [ht])) (giveBack_accounted ?_ h)
    split
    · exact hs s (by simp)
    · exact fun _ => Nat.le_refl _

end Serq
