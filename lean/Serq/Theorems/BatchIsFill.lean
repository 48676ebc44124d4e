module

public import Serq.Model.Machine
public import Serq.Theorems.ServingOrder

/-!
# The batch is the greedy fill

Where no hold grows and nobody waits for the engine, the batch of an iteration is what filling the
residents' wants in serving order gives.
-/

public section

namespace Serq

variable {x : Setting} {chunk : Nat}

theorem fillJobs_of_nothing (js : List Job) : fillJobs chunk 0 js = [] := by
  induction js with
  | nil => rfl
  | cons j js ih =>
    simp [fillJobs, ih]

/-- The tokens of the fill are the greedy fill of the wants, without the zeros. -/
theorem tokens_of_fillJobs (js : List Job) : ∀ left : Nat,
    (fillJobs chunk left js).map Grant.tokens
      = (Greedy.fill left (js.map (Job.want chunk))).filter (· ≠ 0) := by
  induction js with
  | nil => exact fun _ => rfl
  | cons j js ih =>
    intro left
    simp only [fillJobs, List.map_cons, Greedy.fill, Greedy.least]
    generalize (if j.want chunk ≤ left then j.want chunk else left) = t
    by_cases ht : t = 0
    · simp [ht, ih]
    · simp [ht, ih, Job.grant]

theorem plan_fills (ho : x.d.only = none) : ∀ (n : Nat) (b : Plan), b.todo.length < n →
    firstQueue b.state 0 x.d.pools = none → b.state.preempted = [] → (∀ j ∈ b.todo, j.grows = false) →
    (plan x chunk n b).batch = b.batch ++ fillJobs chunk b.left b.todo := by
  intro n
  induction n with
  | zero => intro b h; omega
  | succ n ih =>
    intro b hn hq hp hg
    unfold plan
    by_cases hl : b.left = 0
    · rw [if_pos hl, hl, fillJobs_of_nothing, List.append_nil]
    · rw [if_neg hl]
      cases ht : b.todo with
      | nil => simp [hp, admitOne, hq, fillJobs]
      | cons j more =>
        rw [ht] at hn hg
        have hgone : b.gone j = false := by simp [Plan.gone, hp]
        have hj := hg j (by simp)
        have hs : (!x.serves b.state j) = false := by simp [Setting.serves, ho]
        have hm : ∀ k ∈ more, k.grows = false := fun k hk => hg k (by simp [hk])
        simp only [hgone, Bool.false_eq_true, if_false, serve, hs, hj, Bool.not_false, if_true]
        generalize ht' : (if j.want chunk ≤ b.left then j.want chunk else b.left) = t
        by_cases h0 : t = 0
        · simp only [if_pos h0]
          rw [ih { b with todo := more, had := j :: b.had } (by simpa using hn) hq hp hm]
          simp [fillJobs, ht', h0]
        · simp only [if_neg h0]
          rw [ih (({ b with todo := more, had := j :: b.had } : Plan).give j t 0)
            (by simpa [Plan.give] using hn) hq hp hm]
          simp [fillJobs, ht', h0, Plan.give]

/-- **The batch is the fill.** Where every resident may be served, no hold grows and nobody waits for the
engine, an iteration gives the residents the greedy fill of what they want. -/
theorem batch_is_the_greedy_fill {st : State} (ho : x.d.only = none) (hn : st.jobs.length < fuel)
    (hq : firstQueue st 0 x.d.pools = none) (hp : st.preempted = []) (hg : ∀ j ∈ st.jobs, j.grows = false) :
    (planned x st).batch = fillJobs (x.chunk st) x.d.budget st.jobs := by
  unfold planned
  rw [plan_fills ho fuel { state := st, left := x.d.budget, todo := st.jobs } hn hq hp hg]
  simp

end Serq
