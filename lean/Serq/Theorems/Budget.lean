module

public import Serq.Model.Machine

/-!
# The token budget

What an iteration hands out and what it leaves add up to the budget, whatever is preempted or admitted while
it is planned.
-/

public section

namespace Serq

theorem sumOf_append_one {α : Type} (f : α → Nat) (l : List α) (a : α) :
    sumOf f (l ++ [a]) = sumOf f l + f a := by
  induction l with
  | nil => simp [sumOf]
  | cons b l ih => simp [sumOf, ih]; omega

theorem stillThere_tokens_le (jobs : List Job) (gs : List Grant) :
    sumOf Grant.tokens (stillThere jobs gs) ≤ sumOf Grant.tokens gs := by
  induction gs with
  | nil => simp [stillThere]
  | cons g gs ih =>
    unfold stillThere
    split <;> simp [sumOf] <;> omega

theorem giving_keeps_given_plus_left {b : Plan} {j : Job} {t before : Nat} (h : t ≤ b.left) :
    (b.give j t before).given + (b.give j t before).left = b.given + b.left := by
  simp only [Plan.give, Plan.given, sumOf_append_one, Job.grant]
  omega

theorem preempting_keeps_given_plus_left {b : Plan} {st : State} :
    (b.after st).given + (b.after st).left = b.given + b.left := by
  have := stillThere_tokens_le st.jobs b.batch
  simp only [Plan.after, Plan.given]
  split <;> omega

theorem left_le_left_after {b : Plan} {st : State} : b.left ≤ (b.after st).left := by
  simp [Plan.after]

/-- Serving a resident keeps the sum of what is given and what is left. -/
theorem serving_keeps_given_plus_left {x : Setting} {chunk : Nat} {j : Job} {b : Plan} :
    (serve x chunk j b).1.given + (serve x chunk j b).1.left = b.given + b.left := by
  unfold serve
  simp only
  have ht : (if j.want chunk ≤ b.left then j.want chunk else b.left) ≤ b.left := by split <;> omega
  generalize (if j.want chunk ≤ b.left then j.want chunk else b.left) = t at ht
  split
  · rfl
  · split
    · rfl
    · split
      · exact giving_keeps_given_plus_left ht
      · split
        · rfl
        · split
          · rename_i st _
            rw [giving_keeps_given_plus_left (Nat.le_trans ht left_le_left_after)]
            exact preempting_keeps_given_plus_left
          · exact preempting_keeps_given_plus_left

/-- **What a plan gives out and what it leaves add up to what it started with.** -/
theorem plans_keep_given_plus_left {x : Setting} {chunk : Nat} :
    ∀ (n : Nat) (b : Plan), (plan x chunk n b).given + (plan x chunk n b).left = b.given + b.left := by
  intro n
  induction n with
  | zero => intro b; rfl
  | succ n ih =>
    intro b
    unfold plan
    split
    · rfl
    · split
      · simp only
        split
        · rw [ih]; rfl
        · split
          · have hs := congrArg (fun r : Plan × Bool => r.1.given + r.1.left) ‹_ = (_, true)›
            rw [ih]
            simp only [serving_keeps_given_plus_left] at hs
            rw [← hs]; rfl
          · have hs := congrArg (fun r : Plan × Bool => r.1.given + r.1.left) ‹_ = (_, false)›
            simp only [serving_keeps_given_plus_left] at hs
            rw [← hs]; rfl
      · split
        · rfl
        · split
          · rfl
          · rw [ih]; rfl

/-- **An iteration hands out at most the budget.** -/
theorem an_iteration_hands_out_at_most_the_budget (x : Setting) (st : State) :
    sumOf Grant.tokens (planned x st).batch ≤ x.d.budget := by
  have := plans_keep_given_plus_left (x := x) (chunk := x.chunk st) fuel
    { state := st, left := x.d.budget, todo := st.jobs }
  have h0 : Plan.given { state := st, left := x.d.budget, todo := st.jobs } = 0 := rfl
  unfold planned
  simp only [h0] at this
  unfold Plan.given at this
  omega

end Serq
