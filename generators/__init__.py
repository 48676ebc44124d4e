"""Generators: from the IR to Lean, and the Lean toolchain that checks what they write.

`translate` decides membership in the Lean fragment and makes terms of the model of a program;
`lean_text` writes them, `recorded` and `outcomes` state what runs give; `random_cases` makes
programs for differential testing. Templates are in `templates/`, the toolchain in `toolchain/`.
"""
