module

public import Serq.Generated.ClaimsBariRad
public import Serq.Theorems.Tiling

/-!
# Bari et al.: optimal tiling

What `examples/papers/bari_rad.sq` claims.
-/

public section

namespace Serq.BariRad

open Serq.Generated.ClaimsBariRad

/-- A full tile takes 4000 + 5 · 128 microseconds, and no batch within it serves tokens faster. -/
theorem no_batch_is_faster_than_a_full_tile : RateBound deployment 128 4640 := by
  intro r hr
  have hb : r.tokens ≤ 128 := hr
  have hc : duration deployment r =
      if 5 * r.tokens + 4000 * ((r.tokens + 128 - 1) / 128) = 0 then 1
      else 5 * r.tokens + 4000 * ((r.tokens + 128 - 1) / 128) := rfl
  rw [hc]
  split <;> omega

/-- **Token rate.** No more than 128 tokens per time of a full tile are served. -/
theorem token_rate : Claim.token_rate :=
  every_iteration_of_the_log fun _ _ _ hm r hr =>
    Machine.served_rate no_batch_is_faster_than_a_full_tile hm r hr

/-! ## Optimal tiling -/

/-- The attributes that are drawn. -/
def drawn (slot : Nat) : Bool := slot == Slot.vp || slot == Slot.vd

/-- Decode Mode: a tile's worth of requests decode, or all do. -/
def decodeMode (jobs : List Job) : Bool :=
  decide (128 ≤ countOf Job.decode jobs) || decide (countOf Job.decode jobs = jobs.length)

/-- A request is served in the mode that it is of. -/
def served (jobs : List Job) (j : Job) : Bool := if decodeMode jobs then j.decode else !j.decode

theorem serves_by_mode {x : Setting} (hx : x.d = deployment) (st : State) (j : Job) :
    x.serves st j = served st.jobs j := by
  have ho : x.d.only = deployment.only := by rw [hx]
  unfold Setting.serves
  rw [ho]
  show decide (0 < if (if (if 128 ≤ countOf Job.decode st.jobs then 1 else 0) = 0 then
      (if (if countOf Job.decode st.jobs = st.jobs.length then 1 else 0) = 0 then 0 else 1) else 1) = 0
    then (if j.decode.toNat = 0 then 1 else 0) else j.decode.toNat) = _
  unfold served decodeMode
  by_cases h₁ : 128 ≤ countOf Job.decode st.jobs
  · cases hd : j.decode <;> simp [h₁]
  · by_cases h₂ : countOf Job.decode st.jobs = st.jobs.length
    · cases hd : j.decode <;> simp [h₂]
    · cases hd : j.decode <;> simp [h₁, h₂]

theorem countOf_eq_length_filter {α : Type} (p : α → Bool) (l : List α) : countOf p l = (l.filter p).length := by
  induction l with
  | nil => rfl
  | cons a l ih =>
    cases hp : p a
    · simp [countOf, hp, ih]
    · simp [countOf, hp, ih]; omega

theorem grants_are_of_jobs {chunk : Nat} {g : Grant} : ∀ (l : List Job) (left : Nat), g ∈ fillJobs chunk left l →
    ∃ j ∈ l, g.owner = j.owner := by
  intro l
  induction l with
  | nil => intro _ h; cases h
  | cons j l ih =>
    intro left h
    simp only [fillJobs] at h
    generalize (if j.want chunk ≤ left then j.want chunk else left) = t at h
    split at h
    · obtain ⟨k, hk, he⟩ := ih _ h; exact ⟨k, by simp [hk], he⟩
    · rcases List.mem_cons.mp h with rfl | h
      · exact ⟨j, by simp, rfl⟩
      · obtain ⟨k, hk, he⟩ := ih _ h; exact ⟨k, by simp [hk], he⟩

/-- What a claim says of an iteration. -/
abbrev Tiles (r : Iteration) : Prop := r.tokens = 128 ∨ r.decoders = r.residents

/-- A planned iteration fills a tile or decodes everyone, and gives prompts whole tiles. -/
theorem a_start_tiles {x : Setting} (hx : x.d = deployment) {st : State} {n C : Nat} (hn : n ≤ 500)
    (h : st.Both drawn Slot.vp 128 n C []) (before : Nat) :
    (planned x st).state = st ∧ Tiles (record x before (x.chunk st) (planned x st)) ∧
      ∀ g ∈ (planned x st).batch, ∀ j ∈ st.jobs, j.owner = g.owner → j.decode = false → 128 ∣ g.tokens := by
  obtain ⟨hc, ht⟩ := h
  have hchunk : x.chunk st = 128 := by
    have : x.d.chunk = deployment.chunk := by rw [hx]
    unfold Setting.chunk
    rw [this]
    rfl
  have hbudget : x.d.budget = 128 := by rw [hx]; rfl
  have hlen : st.jobs.length < fuel := by
    have := residents_are_sessions hc
    have := ht.count
    unfold fuel; omega
  obtain ⟨hb, hs⟩ := plan_fills_those_served (x := x) (chunk := 128) (serves_by_mode hx st) fuel
    { state := st, left := 128, todo := st.jobs } hlen rfl (firstQueue_of_nobody hc _ _) hc.calm hc.still
  have hp : planned x st = plan x 128 fuel { state := st, left := 128, todo := st.jobs } := by
    unfold planned; rw [hchunk, hbudget]
  rw [← hp] at hb hs
  simp only [List.nil_append] at hb
  refine ⟨hs, ?_, ?_⟩
  · show sumOf Grant.tokens (planned x st).batch = 128 ∨
      countOf Grant.decode (planned x st).batch = (planned x st).state.jobs.length
    rw [hb, hs]
    have hD := countOf_eq_length_filter Job.decode st.jobs
    cases hm : decodeMode st.jobs
    · left
      have hfil : st.jobs.filter (served st.jobs) = st.jobs.filter fun j => !j.decode :=
        List.filter_congr fun j _ => by simp [served, hm]
      rw [hfil]
      simp only [decodeMode, Bool.or_eq_false_iff, decide_eq_false_iff_not] at hm
      have hne : (st.jobs.filter fun j => !j.decode) ≠ [] := by
        intro he
        refine hm.2 ?_
        rw [hD]
        have : st.jobs.filter Job.decode = st.jobs := List.filter_eq_self.mpr fun j hj => by
          have := List.filter_eq_nil_iff.mp he j hj
          simpa using this
        rw [this]
      obtain ⟨g, hg, hgt⟩ := fill_of_prompts (size := 128) (by decide) _ hne fun j hj => by
        obtain ⟨hj, hd⟩ := List.mem_filter.mp hj
        have hd' : j.decode = false := by simpa using hd
        exact ⟨hd', (ht.jobs j hj).1, (ht.jobs j hj).2 hd'⟩
      rw [hg]; simp [sumOf, hgt]
    · have hfil : st.jobs.filter (served st.jobs) = st.jobs.filter Job.decode :=
        List.filter_congr fun j _ => by simp [served, hm]
      rw [hfil]
      obtain ⟨h₁, h₂⟩ := fill_of_decodes (chunk := 128) (st.jobs.filter Job.decode) 128 fun j hj => by
        obtain ⟨hj, hd⟩ := List.mem_filter.mp hj
        exact ⟨hd, (ht.jobs j hj).1⟩
      rw [h₁, h₂]
      simp only [decodeMode, Bool.or_eq_true, decide_eq_true_eq] at hm
      omega
  · intro g hg j hj ho hd
    rw [hb] at hg
    cases hm : decodeMode st.jobs
    · have hfil : st.jobs.filter (served st.jobs) = st.jobs.filter fun j => !j.decode :=
        List.filter_congr fun j _ => by simp [served, hm]
      rw [hfil] at hg
      by_cases hne : (st.jobs.filter fun j => !j.decode) = []
      · rw [hne] at hg; cases hg
      · obtain ⟨g', hg', hgt⟩ := fill_of_prompts (size := 128) (by decide) _ hne fun j hj => by
          obtain ⟨hj, hd⟩ := List.mem_filter.mp hj
          have hd' : j.decode = false := by simpa using hd
          exact ⟨hd', (ht.jobs j hj).1, (ht.jobs j hj).2 hd'⟩
        rw [hg'] at hg
        have : g = g' := by simpa using hg
        rw [this, hgt]
        exact Nat.dvd_refl _
    · obtain ⟨k, hk, he⟩ := grants_are_of_jobs _ _ hg
      obtain ⟨hk, hsv⟩ := List.mem_filter.mp hk
      have := owners_differ hc.once hj hk (ho.trans he)
      subst this
      simp [served, hm, hd] at hsv

/-- The invariant of machines. -/
structure Fine (T n : Nat) (m : Machine) : Prop where
  conserves : m.Conserves drawn T
  tiled : m.state.Tiled Slot.vp 128 n m.batch
  log : ∀ r ∈ m.log, Tiles r

variable {w : Workload} {T : Nat}

theorem afterEvent_fine (ht : w.turnSlot = none) (hn : ∀ c ∈ w.clients, c.turns = []) {n : Nat} (hc : n ≤ 500)
    {m : Machine} (h : Fine T n m) : Fine T n (m.afterEvent deployment w) := by
  have hcons := Machine.afterEvent_conserves (d := deployment) ht hn h.conserves
  suffices hrest : (m.afterEvent deployment w).state.Tiled Slot.vp 128 n (m.afterEvent deployment w).batch ∧
      ∀ r ∈ (m.afterEvent deployment w).log, Tiles r from ⟨hcons, hrest.1, hrest.2⟩
  obtain ⟨C, hs, _, _⟩ := h.conserves
  have hset := settle_tiled (x := m.setting deployment w) ht hn fuel _ ⟨hs, h.tiled⟩
  have hsame := Machine.noteFinished_same { m with state := settle (m.setting deployment w) fuel m.state }
  have hlog := h.log
  have hnote : (Machine.noteFinished { m with state := settle (m.setting deployment w) fuel m.state }).state.Both
      drawn Slot.vp 128 n C m.batch ∧
      ∀ r ∈ (Machine.noteFinished { m with state := settle (m.setting deployment w) fuel m.state }).log, Tiles r := by
    obtain ⟨h₁, h₂⟩ := hset
    unfold Machine.noteFinished
    split
    · rename_i r₀ log _ hl
      refine ⟨⟨⟨h₁.straight, h₁.queues, h₁.whole, h₁.engine, h₁.once, h₁.still, h₁.covers, h₁.calm⟩,
        ⟨h₂.sessions, h₂.jobs, h₂.batch, h₂.count⟩⟩, ?_⟩
      have hl' : m.log = r₀ :: log := hl
      rw [hl'] at hlog
      intro r hr
      rcases List.mem_cons.mp hr with rfl | hr
      · exact hlog r₀ (by simp)
      · exact hlog r (by simp [hr])
    · exact ⟨⟨h₁, h₂⟩, hlog⟩
  unfold Machine.afterEvent
  generalize Machine.noteFinished { m with state := settle (m.setting deployment w) fuel m.state } = m' at *
  obtain ⟨hboth, hlog'⟩ := hnote
  have hrun : m'.running = m.running := hsame.2.1
  have hbatch : m'.batch = m.batch := by unfold Machine.batch; rw [hrun]
  have hidle : m'.state.Tiled Slot.vp 128 n m'.batch ∧ ∀ r ∈ m'.log, Tiles r := ⟨hbatch ▸ hboth.2, hlog'⟩
  unfold Machine.tryBegin
  split
  · exact hidle
  · rename_i hnone
    split
    · exact hidle
    · have hempty : m.batch = [] := by unfold Machine.batch; rw [← hrun, hnone]
      rw [hempty] at hboth
      obtain ⟨hst, htile, hbat⟩ := a_start_tiles (x := m'.setting deployment w) rfl hc hboth m'.served
      simp only
      generalize planned (m'.setting deployment w) m'.state = b at hst htile hbat ⊢
      unfold Machine.begin
      split
      · refine ⟨?_, hlog'⟩
        show b.state.Tiled Slot.vp 128 n m'.batch
        rw [hst]; exact hidle.1
      · refine ⟨?_, fun r hr => ?_⟩
        · have hk : b.state.Tiled Slot.vp 128 n b.batch := by
            rw [hst]
            exact ⟨hboth.2.sessions, hboth.2.jobs, hbat, hboth.2.count⟩
          exact ⟨hk.sessions, hk.jobs, hk.batch, hk.count⟩
        · rcases List.mem_cons.mp hr with rfl | hr
          · exact htile
          · exact hlog' r hr

theorem handle_fine {n : Nat} {m m' : Machine} (h : Fine T n m) (hm : m.handle = some m') : Fine T n m' := by
  have hcons := Machine.handle_conserves h.conserves hm
  have hd (e : Delay) (more : List Delay) : (m.endDelay e more).state.Tiled Slot.vp 128 n m.batch := by
    have hl : ({ m.state with delays := more } : State).Tiled Slot.vp 128 n m.batch :=
      ⟨h.tiled.sessions, h.tiled.jobs, h.tiled.batch, h.tiled.count⟩
    unfold Machine.endDelay
    simp only
    split
    · split
      · have hk := hl.setSession e.owner (s := { ({ m.state with delays := more } : State).session e.owner with
          status := .ready }) (hl.session _).1 (hl.session _).2
        exact ⟨hk.sessions, hk.jobs, hk.batch, hk.count⟩
      · exact hl
    · exact hl
  have hi (r : Running) (hr : m.running = some r) : (m.endIteration r).state.Tiled Slot.vp 128 n [] := by
    have hbatch : m.batch = r.batch := by unfold Machine.batch; rw [hr]
    exact applyBatch_tiled (hbatch ▸ h.tiled)
  unfold Machine.handle at hm
  split at hm
  · cases hm
  · cases hm; exact ⟨hcons, hi _ ‹_›, h.log⟩
  · cases hm; exact ⟨hcons, hd _ _, h.log⟩
  · split at hm
    · cases hm; exact ⟨hcons, hd _ _, h.log⟩
    · cases hm; exact ⟨hcons, hi _ ‹_›, h.log⟩

/-- What holds of every session of a workload of the claim. -/
theorem sessions_of_the_family {cs : List Client} : ∀ {i : Nat}, AllMay (fun _ c => ∃ arrival_ vp_ vd_,
    c = client arrival_ vp_ vd_ ∧ (vp_ = 128 * (vp_ / 128))) i cs →
    ∀ c ∈ cs, c.turns = [] ∧ 128 ∣ nth 0 Slot.vp (assignAll c.presets []) := by
  induction cs with
  | nil => intro _ _ c hc; cases hc
  | cons a cs ih =>
    rintro i ⟨⟨arrival_, vp_, vd_, rfl, hv⟩, hrest⟩ c hc
    rcases List.mem_cons.mp hc with rfl | hc
    · refine ⟨rfl, ?_⟩
      show 128 ∣ vp_
      exact ⟨vp_ / 128, hv⟩
    · exact ih hrest c hc

/-- **Optimal tiling.** Where prompts are whole tiles, every batch is exactly a tile, or decodes everyone there is. -/
theorem optimal_tiling : Claim.optimal_tiling :=
  every_iteration_of_the_log fun w hw m hm => by
    have hslots := hw.1
    have hmany : w.clients.length ≤ 500 := hw.2.1
    have hmay := sessions_of_the_family hw.2.2
    have ht : w.turnSlot = none := by rw [hslots]; rfl
    have hn : ∀ c ∈ w.clients, c.turns = [] := fun c hc => (hmay c hc).1
    refine (Machine.reached_machines_satisfy (d := deployment)
      (P := Fine (initial deployment w program).state.ahead w.clients.length) ?_
      (fun _ h => afterEvent_fine ht hn hmany h) (fun _ _ h he => handle_fine h he) hm).log
    refine ⟨Machine.initial_conserves (by decide), ⟨fun s hs => ?_, ?_, ?_, ?_⟩, ?_⟩
    · obtain ⟨c, hc, rfl⟩ := List.mem_map.mp hs
      have hprompts : program.prompts Slot.vp = true := by decide
      exact ⟨hprompts, (hmay c hc).2⟩
    · intro j hj; cases hj
    · intro g hg; cases hg
    · simp [initial]
    · intro r hr; cases hr

end Serq.BariRad
