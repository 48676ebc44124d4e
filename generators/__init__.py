"""Generators: from the IR to Lean, and the Lean toolchain that checks what they write."""
