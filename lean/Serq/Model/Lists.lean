module

/-!
# Lists

The list operations the model is written with. They are plain structural recursion, so the kernel evaluates
them.
-/

@[expose] public section

namespace Serq

/-! ## By index

Most of what a run does is reading and writing by index. These are written with recursors, which the kernel
evaluates in a third of the steps that the same functions by cases take; those are what is compiled. -/

/-- `nth` by cases. -/
def nthByCases {α : Type} (d : α) : Nat → List α → α
  | _, [] => d
  | 0, a :: _ => a
  | n + 1, _ :: l => nthByCases d n l

/-- The element at an index, or `d` beyond the end. -/
noncomputable def nth {α : Type} (d : α) (n : Nat) (l : List α) : α :=
  Nat.rec (motive := fun _ => List α → α)
    (fun l => List.rec d (fun a _ _ => a) l)
    (fun _ before l => List.rec d (fun _ more _ => before more) l) n l

/-- `put` by cases. -/
def putByCases {α : Type} (b : α) : Nat → List α → List α
  | _, [] => []
  | 0, _ :: l => b :: l
  | n + 1, a :: l => a :: putByCases b n l

/-- The list with the element at an index replaced; unchanged beyond the end. -/
noncomputable def put {α : Type} (b : α) (n : Nat) (l : List α) : List α :=
  Nat.rec (motive := fun _ => List α → List α)
    (fun l => List.rec [] (fun _ more _ => b :: more) l)
    (fun _ before l => List.rec [] (fun a more _ => a :: before more) l) n l

/-- `assign` by cases. -/
def assignByCases (v : Nat) : Nat → List Nat → List Nat
  | 0, l => v :: l.tail
  | n + 1, l => l.headD 0 :: assignByCases v n l.tail

/-- A store of numbers in which everything beyond the end is 0: `slot` becomes `v`. -/
noncomputable def assign (v slot : Nat) (l : List Nat) : List Nat :=
  Nat.rec (motive := fun _ => List Nat → List Nat)
    (fun l => List.rec [v] (fun _ more _ => v :: more) l)
    (fun _ before l => List.rec (0 :: before []) (fun a more _ => a :: before more) l) slot l

@[simp] theorem nth_nil {α : Type} (d : α) (n : Nat) : nth d n [] = d := by cases n <;> rfl

@[simp] theorem nth_zero {α : Type} (d a : α) (l : List α) : nth d 0 (a :: l) = a := rfl

@[simp] theorem nth_succ {α : Type} (d a : α) (n : Nat) (l : List α) : nth d (n + 1) (a :: l) = nth d n l := rfl

@[simp] theorem put_nil {α : Type} (b : α) (n : Nat) : put b n [] = [] := by cases n <;> rfl

@[simp] theorem put_zero {α : Type} (b a : α) (l : List α) : put b 0 (a :: l) = b :: l := rfl

@[simp] theorem put_succ {α : Type} (b a : α) (n : Nat) (l : List α) :
    put b (n + 1) (a :: l) = a :: put b n l := rfl

@[simp] theorem assign_zero (v : Nat) (l : List Nat) : assign v 0 l = v :: l.tail := by cases l <;> rfl

@[simp] theorem assign_succ (v n : Nat) (l : List Nat) :
    assign v (n + 1) l = l.headD 0 :: assign v n l.tail := by cases l <;> rfl

@[csimp] theorem nth_eq_nthByCases : @nth = @nthByCases := by
  funext α d n l
  induction n generalizing l with
  | zero => cases l <;> rfl
  | succ n ih => cases l with
    | nil => rfl
    | cons a l => exact ih l

@[csimp] theorem put_eq_putByCases : @put = @putByCases := by
  funext α b n l
  induction n generalizing l with
  | zero => cases l <;> rfl
  | succ n ih => cases l with
    | nil => rfl
    | cons a l => exact congrArg (a :: ·) (ih l)

@[csimp] theorem assign_eq_assignByCases : @assign = @assignByCases := by
  funext v n l
  induction n generalizing l with
  | zero => cases l <;> rfl
  | succ n ih => rw [assign_succ, ih]; rfl

/-- Several assignments, in order. -/
def assignAll : List (Nat × Nat) → List Nat → List Nat
  | [], l => l
  | (slot, v) :: more, l => assignAll more (assign v slot l)

/-- Whether a number is in a list. -/
def mem (n : Nat) : List Nat → Bool
  | [] => false
  | m :: l => n == m || mem n l

/-- The list without the first occurrence of a number. -/
def without (n : Nat) : List Nat → List Nat
  | [] => []
  | m :: l => if n = m then l else m :: without n l

/-- The sum of a quantity over a list. -/
def sumOf {α : Type} (f : α → Nat) : List α → Nat
  | [] => 0
  | a :: l => f a + sumOf f l

/-- How many elements satisfy a test. -/
def countOf {α : Type} (p : α → Bool) : List α → Nat
  | [] => 0
  | a :: l => (p a).toNat + countOf p l

end Serq
