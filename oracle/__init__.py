"""The oracle: the real vLLM scheduler, recorded step by step, and the comparison with our programs.

`scenario` and `recorded` read what was recorded, `request` writes a scenario as a
program, `observer` runs it, `compare` finds the first step at which the two differ.
"""
