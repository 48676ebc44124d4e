"""The shape of a request and of the `taking` that sizes its admission (api.md §7.6)."""

from __future__ import annotations

from serq.lang import tree
from serq.lang.model import Engine, Model
from serq.lang.requests import admits, taking_of
from serq.lang.rewrite import same


def check_requests(model: Model) -> None:
    """Report requests and takings that do not fit each other (SQ769)."""
    for engine in model.engines.values():
        _check_takings(engine, model)
        if engine.request is not None and taking_of(engine) is None:
            _check_untaken(engine, engine.request, model)


def _check_takings(engine: Engine, model: Model) -> None:
    findings = model.findings
    taking = taking_of(engine)
    if taking is None:
        return
    for admit in admits(engine.schedule):
        if not same(admit.taking, taking):
            message = f"every `admit waiting` of `{engine.name}` admits its request"
            findings.error("SQ769", message, admit.taking or admit, hint="write the same `taking` on each")
            return
    if engine.request is None:
        message = f"`taking` sizes the admission of a request, and `{engine.name}` has none"
        findings.error("SQ769", message, taking, hint="write `request (...) { ... }` in the engine")
    pools = dict.fromkeys(pool.name for pool in engine.pools())
    seen: set[str] = set()
    for take in taking.takes:
        name = take.pool.name.text
        if name not in pools or take.pool.members or take.pool.index is not None:
            message = f"`{name}` is no capacity of `{engine.name}` or of its device"
            known = ", ".join(f"`{p}`" for p in pools)
            findings.error("SQ769", message, take.pool, hint=f"it takes {known}" if pools else None)
        elif name in seen:
            findings.error("SQ769", f"`taking` names `{name}` twice", take.pool)
        seen.add(name)


def _check_untaken(engine: Engine, request: tree.Request, model: Model) -> None:
    parts = (("at admission", request.admission), ("cache", request.cache))
    for word, part in parts:
        if part is not None:
            message = f"the request of `{engine.name}` takes nothing at its admission, so it has no `{word}`"
            model.findings.error("SQ769", message, part, hint="write `taking` on `admit waiting`")
