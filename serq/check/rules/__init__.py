"""The rules: one file each, found here by name."""

from __future__ import annotations

import importlib
import pkgutil

from serq.check.rule import Rule


def _load() -> tuple[Rule, ...]:
    modules = [importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)]
    return tuple(sorted((m.RULE for m in modules if hasattr(m, "RULE")), key=lambda r: r.code))


RULES: tuple[Rule, ...] = _load()


def rule_named(name: str) -> Rule:
    """A rule by code or name; raises KeyError."""
    for rule in RULES:
        if name in (rule.code, rule.name):
            return rule
    raise KeyError(name)
