"""Text to IR: grammar, syntax tree, names and types, lowering.

`compile_text` and `compile_file` run every pass (see `serq.lang.compile`).
"""

from serq.lang.compile import Compiled, compile_file, compile_text
from serq.lang.settings import Settings, apply_instance

__all__ = ["Compiled", "Settings", "apply_instance", "compile_file", "compile_text"]
