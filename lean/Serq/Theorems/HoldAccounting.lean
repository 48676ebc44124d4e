module

public import Serq.Theorems.Accounting
public import Serq.Theorems.Traversal

/-!
# Accounting of holds

Releases, admissions, growth and preemption keep the memory invariant of covered programs.
-/

public section

namespace Serq

variable {x : Setting} {K : Nat → Prop} {extra : Nat → Nat} {st : State}

/-! ## Release -/

theorem goodFrames_tail {d : Deployment} {f : Frame} {fs : List Frame} (h : ∀ g ∈ f :: fs, g.Good d K) :
    ∀ g ∈ fs, g.Good d K := fun g hg => h g (by simp [hg])

theorem in_range {i : Nat} {f : Frame} {fs : List Frame} (h : (st.session i).frames = f :: fs) :
    i < st.sessions.length := by
  refine Nat.lt_of_not_le fun hi => ?_
  rw [session_beyond hi] at h
  cases h

theorem heldIn_hold (p : Nat) (h : Open) (next : Code) (fs : List Frame) :
    heldIn p (.hold h next :: fs) = sharesIn p h.shares + heldIn p fs := rfl

theorem release_accounted {i : Nat} {h : Open} {positional : Bool}
    (hs : ∀ s ∈ h.shares, K s.pool → s.position ≤ s.units)
    (ha : st.Accounted x.d K (plusShares extra h.shares)) :
    (release x i h positional st).Accounted x.d K extra := giveBackAll_accounted _ _ hs ha

/-- A hold is popped from its session's stack: its units are allocated to no open hold. -/
theorem pop_accounted {i : Nat} {h : Open} {next : Code} {fs : List Frame} {s : Session}
    (ha : st.Accounted x.d K extra) (hf : (st.session i).frames = .hold h next :: fs) (hs : s.Good x.d K)
    (he : s.frames = fs) : (st.setSession i s).Accounted x.d K (plusShares extra h.shares) :=
  ha.setFrames hs (in_range hf) fun p => by rw [hf, he, heldIn_hold]; simp only [plusShares]; omega

theorem giveBackAll_sessions (i : Nat) (cache : Option (Expr Var)) (positional : Bool) :
    ∀ (l : List Share) (st : State), (giveBackAll x i cache positional l st).sessions = st.sessions := by
  intro l
  induction l with
  | nil => exact fun _ => rfl
  | cons s l ih => intro st; unfold giveBackAll; rw [ih]; rfl

theorem release_session (i j : Nat) (h : Open) (positional : Bool) (st : State) :
    (release x i h positional st).session j = st.session j := by
  unfold State.session release; rw [giveBackAll_sessions]

theorem session_set_self {i : Nat} {s : Session} (h : i < st.sessions.length) :
    (st.setSession i s).session i = s := by rw [session_setSession]; simp [h]

theorem releaseAll_accounted (i : Nat) : ∀ (fs : List Frame) (st : State), (st.session i).frames = fs →
    st.Accounted x.d K extra → (releaseAll x i fs st).Accounted x.d K extra := by
  intro fs
  induction fs with
  | nil => exact fun _ _ h => h
  | cons f fs ih =>
    intro st hf ha
    have hg := ha.session i
    have hi := in_range hf
    have hgf := hg.frames
    rw [hf] at hgf
    have hgs : ({ st.session i with frames := fs } : Session).Good x.d K := ⟨hg.code, goodFrames_tail hgf⟩
    cases f with
    | hold h next =>
      unfold releaseAll
      refine ih _ ?_ (release_accounted (hgf (.hold h next) (by simp)).2.2.2 (pop_accounted ha hf hgs rfl))
      rw [release_session, session_set_self hi]
    | rest c =>
      unfold releaseAll
      exact ih _ (by rw [session_set_self hi]) (ha.setSession hgs fun p => by rw [hf]; rfl)
    | loop c =>
      unfold releaseAll
      exact ih _ (by rw [session_set_self hi]) (ha.setSession hgs fun p => by rw [hf]; rfl)
    | again t b c =>
      unfold releaseAll
      exact ih _ (by rw [session_set_self hi]) (ha.setSession hgs fun p => by rw [hf]; rfl)

theorem releaseAll_frames (i : Nat) : ∀ (fs : List Frame) (st : State), (st.session i).frames = fs →
    ((releaseAll x i fs st).session i).frames = [] := by
  intro fs
  induction fs with
  | nil => exact fun _ h => h
  | cons f fs ih =>
    intro st hf
    have hi := in_range hf
    cases f with
    | hold h next =>
      unfold releaseAll
      exact ih _ (by rw [release_session, session_set_self hi])
    | _ => unfold releaseAll; exact ih _ (by rw [session_set_self hi])

theorem endSession_accounted (i : Nat) (ha : st.Accounted x.d K extra) :
    (endSession x i st).Accounted x.d K extra := by
  unfold endSession
  refine (releaseAll_accounted i _ st rfl ha).setSession ⟨trivial, by simp⟩ fun p => ?_
  rw [releaseAll_frames i _ st rfl]

/-! ## Queues -/

theorem setSlot_accounted {d : Deployment} (h : st.Accounted d K extra) (i : Nat) (slot : Option Nat)
    (v : Nat) :
    (st.setSlot i slot v).Accounted d K extra := by
  cases slot with
  | none => exact h
  | some k => exact h.setSession ⟨(h.session i).code, (h.session i).frames⟩ fun _ => rfl

theorem join_accounted (i : Nat) (h : Header) (front : Bool) (ha : st.Accounted x.d K extra) :
    (join x i h front st).Accounted x.d K extra := by
  unfold join
  split
  · exact ⟨ha.good, ha.allocated, ha.fits, ha.pools⟩
  · split
    · exact ⟨ha.good, ha.allocated, ha.fits, ha.pools⟩
    · split
      · exact endSession_accounted i ha
      · have hg := ha.session i
        exact (ha.setSession (s := { st.session i with status := .queued _ front })
          ⟨hg.code, hg.frames⟩ fun _ => rfl).setPool_same rfl rfl

/-! ## Admission -/

theorem cached_consume_le (i : Nat) (amount : Nat → Nat) (es : List Entry) :
    sumOf Entry.size (consume i amount es).2 ≤ sumOf Entry.size es := by
  induction es with
  | nil => simp [consume]
  | cons e es ih =>
    unfold consume
    split
    · split <;> simp [sumOf]
    · simp [sumOf]; omega

theorem consume_le {i : Nat} {amount : Nat → Nat} {es : List Entry} {k : Nat}
    (h : amount (ownSize i es) ≤ k) : (consume i amount es).1 ≤ k := by
  induction es with
  | nil => simp [consume]
  | cons e es ih =>
    unfold ownSize at h
    unfold consume
    split
    · rename_i he; rw [if_pos he] at h; exact h
    · rename_i he; rw [if_neg he] at h; exact ih h

theorem roundDown_mono {b m n : Nat} (h : m ≤ n) : roundDown b m ≤ roundDown b n :=
  Nat.mul_le_mul_right _ (Nat.div_le_div_right h)

theorem roundDown_roundDown (b n : Nat) : roundDown b (roundDown b n) = roundDown b n := by
  unfold roundDown
  by_cases hb : b = 0
  · simp [hb]
  · rw [Nat.mul_div_cancel _ (Nat.pos_of_ne_zero hb)]

/-- What is consumed is at most what the bound says of the whole blocks cached. -/
theorem consumed_le (b r size : Nat) :
    consumed b (some r) size ≤ roundDown b (if r ≤ roundDown b size then r else roundDown b size) := by
  unfold consumed
  simp only
  by_cases h : r ≤ roundDown b size
  · have := roundDown_le b size
    rw [if_pos h, if_pos (by omega)]; exact Nat.le_refl _
  · rw [if_neg h, roundDown_roundDown]
    refine roundDown_mono ?_
    split <;> omega

theorem roundUp_mono {b m n : Nat} (h : m ≤ n) : roundUp b m ≤ roundUp b n :=
  Nat.mul_le_mul_right _ (Nat.div_le_div_right (by omega))

theorem block_pos (d : Deployment) (p : Nat) : 0 < d.block p := by
  unfold Deployment.block; split <;> omega

theorem take_accounted {i : Nat} {m : Demand} {amount : Option (Nat → Nat)} {l : List Share} {pos : Nat}
    (ha : st.Accounted x.d K (plusShares extra l))
    (hf : (st.pool m.pool).allocated + m.units ≤ (x.d.pool m.pool).cap) :
    (st.setPool m.pool ((st.pool m.pool).take (x.d.pool m.pool).cap (x.d.block m.pool) i m.units
      amount).2).Accounted x.d K
      (plusShares extra ({ pool := m.pool, units := m.units, position := pos } :: l)) := by
  have hal := ha.allocated m.pool
  simp only [plusShares] at hal
  refine ha.setPool ?_ ?_ ?_ ?_
  · intro r hr
    simp [plusShares, sharesIn, sumOf, Ne.symm hr]
  · show (st.pool m.pool).allocated + m.units = _
    simp only [plusShares, sharesIn, sumOf, if_true] at hal ⊢
    omega
  · intro _
    have h := makeRoom_fits (q := { st.pool m.pool with entries := (match amount with
      | none => ((0 : Nat), (st.pool m.pool).entries)
      | some f => consume i f (st.pool m.pool).entries).2 }) (cap := (x.d.pool m.pool).cap)
      (need := m.units) (block_pos x.d m.pool) hf
    unfold Pool.take
    simp only [Pool.cached] at h ⊢
    show (st.pool m.pool).allocated + m.units + _ ≤ _
    simp only [Pool.makeRoom] at h ⊢
    cases amount <;> simp only at h ⊢ <;> omega
  · intro hb
    have hc : (x.d.pool m.pool).cap = 0 := by
      unfold Deployment.pool; rw [nth_beyond _ _ _ (ha.pools ▸ hb)]
    simp only [plusShares, sharesIn, sumOf, if_true]
    omega

theorem take_other_pools (st : State) (p r : Nat) (q : Pool) (h : r ≠ p) :
    (st.setPool p q).pool r = st.pool r := by rw [pool_setPool]; simp [h]

theorem takeAll_sessions (i : Nat) (amount : Nat → Option (Nat → Nat)) : ∀ (l : List Demand) (st : State),
    (takeAll x i amount l st).2.sessions = st.sessions := by
  intro l
  induction l with
  | nil => exact fun _ => rfl
  | cons m l ih => intro st; unfold takeAll; simp only; rw [ih]; rfl

theorem takeAll_accounted (i : Nat) (amount : Nat → Option (Nat → Nat)) :
    ∀ (l : List Demand) (st : State) (extra : Nat → Nat), Distinct l → st.Accounted x.d K extra →
      (∀ m ∈ l, (st.pool m.pool).allocated + m.units ≤ (x.d.pool m.pool).cap) →
      (takeAll x i amount l st).2.Accounted x.d K (plusShares extra (takeAll x i amount l st).1) := by
  intro l
  induction l with
  | nil => intro st extra _ ha _; simpa [takeAll, plusShares, sharesIn, sumOf] using ha
  | cons m l ih =>
    intro st extra hd ha hf
    have h₀ : st.Accounted x.d K (plusShares extra []) := by simpa [plusShares, sharesIn, sumOf] using ha
    have h₁ := take_accounted (i := i) (amount := amount m.pool)
      (pos := ((st.pool m.pool).take (x.d.pool m.pool).cap (x.d.block m.pool) i m.units (amount m.pool)).1)
      h₀ (hf m (by simp))
    have h₂ := ih _ _ hd.2 h₁ fun n hn => by
      rw [take_other_pools _ _ _ _ (hd.1 n hn)]; exact hf n (by simp [hn])
    unfold takeAll
    simp only
    refine ⟨h₂.good, fun p => ?_, h₂.fits, h₂.pools⟩
    rw [h₂.allocated p]
    simp [plusShares, sharesIn, sumOf]
    omega

theorem take_position (q : Pool) (cap block i units : Nat) (amount : Option (Nat → Nat)) (k : Nat)
    (h : ∀ f, amount = some f → f (ownSize i q.entries) ≤ k) : (q.take cap block i units amount).1 ≤ k := by
  unfold Pool.take
  cases amount with
  | none => exact Nat.zero_le _
  | some f => exact consume_le (h f rfl)

theorem takeAll_positions (i : Nat) (amount : Nat → Option (Nat → Nat)) :
    ∀ (l : List Demand) (st : State), Distinct l →
      (∀ m ∈ l, K m.pool → ∀ f, amount m.pool = some f → f (ownSize i (st.pool m.pool).entries) ≤ m.units) →
      ∀ s ∈ (takeAll x i amount l st).1, K s.pool → s.position ≤ s.units := by
  intro l
  induction l with
  | nil => intro st _ _ s hs; simp [takeAll] at hs
  | cons m l ih =>
    intro st hd hf s hs hK
    unfold takeAll at hs
    simp only at hs
    rcases List.mem_cons.mp hs with rfl | hs
    · show ((st.pool m.pool).take (x.d.pool m.pool).cap (x.d.block m.pool) i m.units
        (amount m.pool)).1 ≤ m.units
      exact take_position _ _ _ _ _ _ _ (hf m (by simp) hK)
    · refine ih _ hd.2 (fun n hn hKn f hf' => ?_) s hs hK
      rw [take_other_pools _ _ _ _ (hd.1 n hn)]
      exact hf n (by simp [hn]) hKn f hf'

theorem distinct_demands {d : Deployment} {e : Env} {l : List Need} (h : twice l = false) :
    Distinct (l.map (Need.demand d e)) := by
  induction l with
  | nil => trivial
  | cons n l ih =>
    unfold twice at h
    rw [Bool.or_eq_false_iff] at h
    refine ⟨fun m hm => ?_, ih h.2⟩
    obtain ⟨k, hk, rfl⟩ := List.mem_map.mp hm
    have := List.any_eq_false.mp h.1 k hk
    simpa [Need.demand] using this

theorem admit_accounted {i : Nat} {h : Header} {body next : Code} {left : Option Nat} {st₀ : State}
    (ha : st.Accounted x.d K extra) (hc : (st.session i).code = .hold h body next)
    (hn : twice h.needs = false)
    (he : ∀ p, (st₀.pool p).entries = (st.pool p).entries)
    (hf : ∀ m ∈ h.needs.map (Need.demand x.d (x.env st₀ i left)),
      (st.pool m.pool).allocated + m.units ≤ (x.d.pool m.pool).cap) :
    (enter x i h body next (x.env st₀ i left) st).Accounted x.d K extra := by
  have hd := distinct_demands (d := x.d) (e := x.env st₀ i left) hn
  have hg := ha.session i
  have hgc := hg.code
  rw [hc] at hgc
  have hi : i < st.sessions.length := by
    refine Nat.lt_of_not_le fun hi => ?_
    rw [session_beyond hi] at hc
    cases hc
  unfold enter
  simp only
  generalize hA : (fun p => h.cache.map fun _ =>
    consumed (x.d.block p) (h.reuse.map fun r => r.at (x.env st₀ i left))) = A
  have hpos := takeAll_positions (x := x) (K := K) i A _ st hd fun m hm hKm f hf' => by
    rw [← hA] at hf'
    obtain ⟨n, hn', rfl⟩ := List.mem_map.mp hm
    cases hcache : h.cache with
    | none => simp [hcache] at hf'
    | some c =>
      simp only [hcache, Option.map_some, Option.some.injEq] at hf'
      subst hf'
      have hcov := hgc.1 (by simp [hcache]) n hn' hKm (x.env st₀ i left)
      refine Nat.le_trans ?_ hcov
      have hcached : (x.env st₀ i left).cachedIn n.pool
          = roundDown (x.d.block n.pool) (ownSize i (st.pool n.pool).entries) := by
        show roundDown _ (ownSize i (st₀.pool n.pool).entries) = _
        rw [he]
      unfold Header.consumes
      cases hr : h.reuse with
      | none => simp only [Option.map_none, hcached]; exact Nat.le_refl _
      | some r =>
        simp only [Option.map_some, hcached]
        exact consumed_le _ _ _
  have hall := takeAll_accounted (x := x) i A _ st extra hd ha hf
  have hsess := takeAll_sessions (x := x) i A (h.needs.map (Need.demand x.d (x.env st₀ i left))) st
  generalize takeAll x i A (h.needs.map (Need.demand x.d (x.env st₀ i left))) st = T at hpos hall hsess ⊢
  have hs : T.2.session i = st.session i := by unfold State.session; rw [hsess]
  have hfin := hall.setFrames (i := i) (extra' := extra)
    (s := { T.2.session i with
      cached := mostPosition T.1
      code := body
      frames := .hold { header := h, body, shares := T.1 } next :: (T.2.session i).frames
      status := .ready
      admission := some st.admissions })
    ⟨hgc.2.1, fun f hf => by
      rcases List.mem_cons.mp hf with rfl | hf
      · exact ⟨hgc.1, hgc.2.1, hgc.2.2, hpos⟩
      · rw [hs] at hf; exact hg.frames f hf⟩
    (by rw [hsess]; exact hi)
    (fun p => by simp only [heldIn_hold, plusShares]; omega)
  exact ⟨hfin.good, hfin.allocated, hfin.fits, hfin.pools⟩

theorem tryHead_accounted {p : Nat} {left : Option Nat} {st' : State} (ha : st.Accounted x.d K extra)
    (h : tryHead x p left st = some st') : st'.Accounted x.d K extra := by
  unfold tryHead at h
  split at h
  · cases h
  · rename_i i _
    split at h
    · rename_i hd body next hc
      simp only at h
      split at h
      · rename_i hfit
        rw [Bool.and_eq_true] at hfit
        cases h
        have hq (r : Nat) :
            ((st.setPool p { st.pool p with queue := without i (st.pool p).queue }).pool r).allocated
              = (st.pool r).allocated ∧
            ((st.setPool p { st.pool p with queue := without i (st.pool p).queue }).pool r).entries
              = (st.pool r).entries := by
          rw [pool_setPool]
          split
          · rename_i hr; rw [hr.1]; exact ⟨rfl, rfl⟩
          · exact ⟨rfl, rfl⟩
        refine admit_accounted (ha.setPool_same rfl rfl) hc (by simpa using hfit.2)
          (fun r => (hq r).2.symm) fun m hm => ?_
        rw [(hq m.pool).1]
        have hm' := List.all_eq_true.mp hfit.1 m hm
        obtain ⟨n, _, rfl⟩ := List.mem_map.mp hm
        simp only [Demand.fits, decide_eq_true_eq] at hm'
        refine Nat.le_trans (Nat.add_le_add_left ?_ _) hm'
        refine roundUp_mono ?_
        split <;> omega
      · cases h
    · cases h

end Serq
