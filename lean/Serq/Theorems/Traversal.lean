module

public import Serq.Model.Machine

/-!
# Traversal

A property of states that admissions, statements and growth keep is kept by everything built from them: a
session's run, settling an instant, planning an iteration.
-/

public section

namespace Serq

variable {x : Setting} {P : State → Prop}

/-- Admissions and faults keep a property. -/
structure KeptByAdmission (x : Setting) (P : State → Prop) : Prop where
  fail : ∀ st, P st → P st.fail
  admission : ∀ p left st st', P st → tryHead x p left st = some st' → P st'

/-- Admissions, statements and the ready list keep a property. -/
structure KeptBySessions (x : Setting) (P : State → Prop) : Prop extends KeptByAdmission x P where
  ready : ∀ st l, P st → P { st with ready := l }
  statement : ∀ i st, P st → P (command x i st).1

/-- What a plan does keeps a property. -/
structure KeptByPlans (x : Setting) (P : State → Prop) : Prop extends KeptBySessions x P where
  growth : ∀ i p t n st, P st → P (grow x i p t n st).1

theorem KeptByAdmission.admitPool (h : KeptByAdmission x P) (p : Nat) :
    ∀ n st, P st → P (admitPool x p n st) := by
  intro n
  induction n with
  | zero => exact fun st hp => h.fail st hp
  | succ n ih =>
    intro st hp
    unfold Serq.admitPool
    split
    · exact hp
    · exact ih _ (h.admission _ _ _ _ hp ‹_›)

theorem KeptByAdmission.admitFrom (h : KeptByAdmission x P) :
    ∀ specs p st, P st → P (admitFrom x p specs st) := by
  intro specs
  induction specs with
  | nil => exact fun _ _ hp => hp
  | cons spec specs ih =>
    intro p st hp
    unfold Serq.admitFrom
    apply ih
    split
    · exact hp
    · exact h.admitPool _ _ _ hp

theorem KeptByAdmission.admitAll (h : KeptByAdmission x P) (st : State) (hp : P st) : P (admitAll x st) :=
  h.admitFrom _ _ _ hp

theorem KeptBySessions.exec (h : KeptBySessions x P) (i : Nat) : ∀ n st, P st → P (exec x i n st) := by
  intro n
  induction n with
  | zero => exact fun st hp => h.fail st hp
  | succ n ih =>
    intro st hp
    have hc := h.statement i st hp
    unfold Serq.exec
    split
    · rename_i st' he
      rw [he] at hc
      exact ih _ hc
    · rename_i st' he
      rw [he] at hc
      exact hc

theorem KeptBySessions.drain (h : KeptBySessions x P) : ∀ n st, P st → P (drain x n st) := by
  intro n
  induction n with
  | zero => exact fun st hp => h.fail st hp
  | succ n ih =>
    intro st hp
    unfold Serq.drain
    split
    · exact hp
    · apply ih
      split
      · exact h.exec _ _ _ (h.ready _ _ hp)
      · exact h.ready _ _ hp

theorem KeptBySessions.settle (h : KeptBySessions x P) : ∀ n st, P st → P (settle x n st) := by
  intro n
  induction n with
  | zero => exact fun st hp => h.fail st hp
  | succ n ih =>
    intro st hp
    have ha := h.admitAll _ (h.drain fuel st hp)
    unfold Serq.settle
    simp only
    split
    · exact ha
    · exact ih _ ha

theorem KeptBySessions.admitOne (h : KeptBySessions x P) {left : Nat} {st st' : State} (hp : P st)
    (he : admitOne x left st = some st') : P st' := by
  unfold Serq.admitOne at he
  split at he
  · cases he
  · split at he
    · cases he
    · cases he
      exact h.drain _ _ (h.admission _ _ _ _ hp ‹_›)

theorem KeptByPlans.serve (h : KeptByPlans x P) {chunk : Nat} {j : Job} {b : Plan} (hp : P b.state) :
    P (serve x chunk j b).1.state := by
  unfold Serq.serve
  simp only
  repeat' split
  all_goals first
    | exact hp
    | exact h.fail _ hp
    | exact (congrArg (fun r : State × Bool => P r.1) ‹grow _ _ _ _ _ _ = _›).mp (h.growth _ _ _ _ _ hp)

theorem KeptByPlans.plan (h : KeptByPlans x P) (chunk : Nat) :
    ∀ n b, P b.state → P (plan x chunk n b).state := by
  intro n
  induction n with
  | zero => exact fun b hp => h.fail _ hp
  | succ n ih =>
    intro b hp
    unfold Serq.plan
    split
    · exact hp
    · split
      · simp only
        split
        · exact ih _ hp
        · split
          · have hs := congrArg (fun r : Plan × Bool => P r.1.state) ‹_ = (_, true)›
            exact ih _ (hs.mp (h.serve hp))
          · have hs := congrArg (fun r : Plan × Bool => P r.1.state) ‹_ = (_, false)›
            exact hs.mp (h.serve hp)
      · split
        · exact hp
        · split
          · exact hp
          · exact ih _ (h.admitOne hp ‹_›)

end Serq
