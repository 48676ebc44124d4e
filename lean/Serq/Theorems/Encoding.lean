module

public import Serq.Model.Encoding

/-!
# Reading programs

What stands between the numbers of a text is left out, and a text that is no program is not read.
-/

public section

namespace Serq.Encoding

/-- Brackets, commas and spaces only separate numbers. -/
theorem numbers_of_an_array : numbers none "[12, 3,450]".toList = [12, 3, 450] := by decide +kernel

/-- A program without a session, without a statement. -/
theorem an_idle_program_is_read :
    read "[0, 9, 0, 8, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]".toList = some
      { names := 0, horizon := 9, deployment := { pools := [], budget := 8 }
        workload := { clients := [] }, program := .finish } := by decide +kernel

/-- A number too many, or one too few, is no program. -/
theorem other_texts_are_not_read :
    read "[0, 9, 0, 8, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1]".toList = none ∧
      read "[0, 9, 0, 8, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]".toList = none := by decide +kernel

end Serq.Encoding
