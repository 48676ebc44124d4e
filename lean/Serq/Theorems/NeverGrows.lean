module

public import Serq.Theorems.EveryIteration
public import Serq.Theorems.Parts
public import Serq.Theorems.WorkConservation

/-!
# Programs that never grow

A program whose runs grow no hold preempts nobody, and so is work conserving.
-/

public section

namespace Serq

variable {x : Setting} {program : Code}

theorem parts_of_programs_that_never_grow {c : Code} (hg : program.neverGrows = true)
    (h : Part program c) : c.neverGrows = true := by
  induction h with
  | whole => exact hg
  | @run place _ _ _ ih =>
    unfold Code.neverGrows at ih
    split at ih <;> simp_all
  | _ => simp_all [Code.neverGrows]

theorem jobs_of_programs_that_never_grow (hg : program.neverGrows = true) {j : Job} (h : j.Within program) :
    j.grows = false := by
  obtain ⟨e, next, hp⟩ := h
  have := parts_of_programs_that_never_grow hg hp
  cases hj : j.grows with
  | false => rfl
  | true => cases hd : j.decode <;> simp [hj, hd, Code.neverGrows] at this

theorem mem_newJobs {j : Job} : ∀ {had jobs : List Job}, j ∈ newJobs had jobs → j ∈ jobs := by
  have hd : ∀ {k : Job} {jobs : List Job}, j ∈ dropJob k jobs → j ∈ jobs := by
    intro k jobs
    induction jobs with
    | nil => intro h; cases h
    | cons a jobs ih =>
      intro h
      unfold dropJob at h
      split at h
      · exact List.mem_cons_of_mem _ h
      · rcases List.mem_cons.mp h with rfl | h
        · simp
        · exact List.mem_cons_of_mem _ (ih h)
  intro had
  induction had with
  | nil => exact fun h => h
  | cons k had ih => exact fun h => hd (ih h)

/-- A resident that does not grow leaves the state as it is. -/
theorem serving_without_growing {chunk : Nat} {j : Job} {b : Plan} (hj : j.grows = false) :
    (serve x chunk j b).2 = true ∧ (serve x chunk j b).1.state = b.state ∧
      (serve x chunk j b).1.todo = b.todo := by
  unfold serve
  simp only [hj, Bool.not_false, if_true]
  generalize (if j.want chunk ≤ b.left then j.want chunk else b.left) = t
  split
  · exact ⟨rfl, rfl, rfl⟩
  · split <;> exact ⟨rfl, rfl, rfl⟩

/-- A plan of residents that never grow preempts nobody. -/
theorem plan_preempts_nobody (hg : program.neverGrows = true) {chunk : Nat} : ∀ (n : Nat) (b : Plan),
    b.state.Within program → (∀ j ∈ b.todo, j.grows = false) → b.state.preempted = [] →
    (plan x chunk n b).state.preempted = [] := by
  intro n
  induction n with
  | zero => exact fun b _ _ hp => hp
  | succ n ih =>
    intro b hw ht hp
    unfold plan
    split
    · exact hp
    · split
      · rename_i j more htodo
        rw [htodo] at ht
        have hj := ht j (by simp)
        have hm : ∀ k ∈ more, k.grows = false := fun k hk => ht k (by simp [hk])
        simp only
        split
        · exact ih _ hw hm hp
        · obtain ⟨h₁, h₂, h₃⟩ := serving_without_growing (x := x) (chunk := chunk)
            (b := { b with todo := more, had := j :: b.had }) hj
          generalize serve x chunk j { b with todo := more, had := j :: b.had } = r at h₁ h₂ h₃ ⊢
          obtain ⟨b', go⟩ := r
          simp only at h₁ h₂ h₃
          subst h₁
          exact ih b' (h₂ ▸ hw) (h₃ ▸ hm) (h₂ ▸ hp)
      · split
        · exact hp
        · split
          · exact hp
          · rename_i st ha
            have hw' : st.Within program := keptBySessions_within.admitOne hw ha
            refine ih _ hw' (fun j hj => jobs_of_programs_that_never_grow hg (hw'.jobs j (mem_newJobs hj))) ?_
            have hev := (keptBySessions_evolves (x := x) b.state.outline).admitOne
              (P := fun st => Evolves x.now false b.state.outline st.outline) (.refl _) ha
            exact hev.nobody_preempted.trans hp

namespace Machine

variable {d : Deployment} {w : Workload}

/-- **A program that never grows a hold preempts nobody.** -/
theorem programs_that_never_grow_preempt_nobody {m : Machine} (hg : program.neverGrows = true)
    (h : Reach d w program m) : ∀ r ∈ m.log, r.preempted = [] := by
  have hnote : ∀ m : Machine, (noteFinished m).state.preempted = m.state.preempted := by
    intro m; unfold noteFinished; split <;> rfl
  refine every_iteration_of (I := fun m => m.state.Within program ∧ m.state.preempted = []) ?_ ?_ ?_ ?_ ?_ h
  · exact ⟨⟨fun s hs => by
      obtain ⟨c, _, rfl⟩ := List.mem_map.mp hs
      exact ⟨.inr .whole, by simp⟩, by simp [initial]⟩, rfl⟩
  · intro m m' hm he
    exact ⟨handle_within' hm.1 he, (handle_preempts_nobody he).1.trans hm.2⟩
  · intro m hm
    have hs := (keptBySessions_within (x := m.setting d w) (program := program)).settle fuel _ hm.1
    have hp := (settle_evolves (m.setting d w) fuel m.state).nobody_preempted.trans hm.2
    refine ⟨?_, (hnote _).trans hp⟩
    unfold noteFinished
    split
    · exact ⟨hs.sessions, hs.jobs⟩
    · exact hs
  · intro m hm hr
    have hpl := (keptByPlans_within (x := m.setting d w) (program := program)).plan
      ((m.setting d w).chunk m.state) fuel { state := m.state, left := d.budget, todo := m.state.jobs } hm.1
    have hpr := plan_preempts_nobody (x := m.setting d w) (chunk := (m.setting d w).chunk m.state) hg fuel
      { state := m.state, left := d.budget, todo := m.state.jobs } hm.1
      (fun j hj => jobs_of_programs_that_never_grow hg (hm.1.jobs j hj)) hm.2
    refine ⟨?_, hpr⟩
    unfold begin
    simp only
    split
    · exact ⟨hpl, hpr⟩
    · exact ⟨⟨hpl.sessions, hpl.jobs⟩, rfl⟩
  · exact fun _ _ hq => hq

/-- **A program that never grows a hold is work conserving**: every iteration hands out the lesser of the
token budget and what its residents could take. -/
theorem programs_that_never_grow_are_work_conserving {m : Machine} (ho : d.only = none)
    (hg : program.neverGrows = true) (h : Reach d w program m) :
    ∀ r ∈ m.log, r.tokens = min d.budget r.demand := fun r hr =>
  iterations_that_preempt_nobody_are_work_conserving ho h r hr
    (programs_that_never_grow_preempt_nobody hg h r hr)

end Machine

end Serq
