module

public import Serq.Model.Lists

/-!
# Attributes

A session's attributes are a list of numbers, 0 beyond its end: writing to a slot is updating a function.
-/

public section

namespace Serq

/-- **Writing a slot is function update.** -/
theorem assign_is_function_update (v slot other : Nat) (l : List Nat) :
    nth 0 other (assign v slot l) = if other = slot then v else nth 0 other l := by
  induction slot generalizing other l with
  | zero =>
    cases other with
    | zero => simp
    | succ n => cases l <;> simp
  | succ slot ih =>
    cases other with
    | zero => cases l <;> simp
    | succ n =>
      cases l with
      | nil => simp [ih]
      | cons a l => simp [ih]

end Serq
