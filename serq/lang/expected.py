"""What the grammar asks for, in words: nouns for lists, phrases for sets of token kinds."""

from __future__ import annotations

from collections.abc import Iterable

from serq.lang.tokens import AGGREGATE, END, INPUT, NAME, NUMBER, OPERATORS, STRING, Token

DECLARATIONS = frozenset(
    ("fn", "workload", "server", "gauge", "claim", "stage", "device", "engine", "def", "pool", "queue")
)
# Lists whose elements may begin with any name: an unknown word there is not the mistake.
OPEN_LISTS = frozenset(("resource", "request_binding"))

_NOUNS = {
    "statement": "a statement",
    "item": "a declaration",
    "instance": "part of an instance",
    "workload_item": "part of a workload",
    "pool_option": "a pool option",
    "engine_item": "part of an engine",
    "schedule_item": "a schedule statement",
    "member": "part of a queue",
    "resource": "a device resource",
    "setting": "a run setting",
    "request_binding": "a binding",
}
_ELEMENT_WORDS = {
    "statement": (
        "turn Size Cost set observe hold grow drop release load run branch while loop fork join choose end "
        "mark transfer tool prefill decode"
    ),
    "pool_option": "cap block evict preempt queue reserve spill",
    "workload_item": "arrive trace init turn session hidden",
    "engine_item": "tokens granule state schedule execute request",
    "schedule_item": "advance admit exclusive branch set",
    "member": "pool device engine serve nic",
    "setting": "horizon warmup seed arrivals",
    "item": "let use def fn pool stage device engine workload server queue share gauge claim",
    "instance": "let run",
}
_LISTED = {
    "pool_option": "a pool takes `cap`, `block`, `evict`, `preempt`, `queue`, `reserve held` and `spill`",
    "workload_item": "a workload takes `arrive`, `trace`, `init`, `turn`, `session` and `hidden`",
    "engine_item": (
        "an engine takes `NAME cap e;`, `tokens cap`, `granule`, `state`, `schedule`, `execute` and `request`"
    ),
    "schedule_item": (
        "a schedule takes `advance running`, `admit waiting`, `exclusive prefill`, `branch` and `set`"
    ),
    "member": "a queue takes `pool`, `device`, `engine on D`, `serve`, `nic` and the entries of its roles",
    "setting": "a run takes `horizon`, `warmup`, `seed` and `arrivals`, each with a number",
    "instance": "an instance takes `let NAME = e;` and `run { ... }`",
}
# Said when one of these words was asked for and did not come.
FORMS = {
    "from": "write `transfer (work) from P to Q (tokens);`",
    "share": "a relation says how its reads share the links: `D pull P share maxmin;`",
    "running": "write `advance running;`",
    "waiting": "write `admit waiting;`",
    "iteration": "write `claim c: every iteration of STAGE (e);`",
}
# Words other languages use, and what is written here.
HABITS = {
    "let": "a value of the session is `set x = e;`; `let` declares a constant in `fn main()`",
    "return": "a block ends at its `}`; a session ends with `end;`",
    "for": "a repetition is `while (e) { ... }` or `loop { ... }`",
    "var": "a value of the session is `set x = e;`",
    "print": "`observe x = e;` records a value",
    "sleep": "time passes in a `run`, or in a client's `tool e;`",
    "wait": "time passes in a `run`, or in a client's `tool e;`",
}
_CHOICES = (
    (frozenset(("fifo", "ps", "delay")), "a stage kind (`fifo`, `ps` or `delay`)"),
    (
        frozenset(("poisson", "renewal", "closed", "batch", "none")),
        "an arrival law (`poisson`, `renewal`, `closed`, `batch` or `none`)",
    ),
    (
        frozenset(("gateway", "prefill", "decode", "link")),
        "a role (`gateway`, `prefill`, `decode` or `link`)",
    ),
    (
        frozenset(("every", "some", "at")),
        "a form of claim (`every iteration of S`, `some iteration of S` or `at end`)",
    ),
    (frozenset(("maxmin", "bottleneck")), "a share policy (`maxmin` or `bottleneck`)"),
)
_AFTER = {
    "hold": "a pool",
    "grow": "a pool",
    "drop": "a pool",
    "release": "a pool",
    "load": "a pool",
    "growing": "a pool",
    "lease": "a pool",
    "spill": "a pool",
    "taking": "a pool",
    "to": "a pool",
    "run": "a stage",
    "of": "a stage",
    "via": "a stage",
    "~": "a distribution",
}


def noun(element: str) -> str:
    """What the elements of a list are called: `a pool option`."""
    return _NOUNS[element]


def words(element: str) -> list[str]:
    """The words with which the elements of a list begin."""
    return _ELEMENT_WORDS.get(element, "").split()


def listed(element: str) -> str | None:
    """What a list may hold, as a hint, where that is short enough to say."""
    return _LISTED.get(element)


def belongs(word: str, element: str) -> str | None:
    """Where a word would be known, when it is not known in this list."""
    homes = [e for e in _ELEMENT_WORDS if e != element and word in words(e)]
    return f"`{word}` is {noun(homes[0])}" if homes else None


def phrase(accepted: Iterable[str], element: str | None, before: Token | None) -> str:
    """The kinds of token that fit, in words: `` `;` or an operator``."""
    kinds = set(accepted)
    if element is not None:
        return noun(element)
    if NUMBER in kinds and NAME in kinds:
        return "an expression"
    for choice, text in _CHOICES:
        if choice <= kinds:
            return text
    if before is not None and before.text in _AFTER and NAME in kinds:
        return _AFTER[before.text]
    if OPERATORS & kinds:
        kinds -= OPERATORS | {"(", "[", "."}
    texts = sorted(_word(k) for k in kinds - {AGGREGATE, INPUT})
    return _joined(texts)


def _word(kind: str) -> str:
    names = {NAME: "a name", NUMBER: "a number", STRING: "a string", END: "the end of the file"}
    return names.get(kind, f"`{kind}`")


def _joined(texts: list[str]) -> str:
    if len(texts) < 2:
        return texts[0] if texts else "something else"
    return ", ".join(texts[:-1]) + " or " + texts[-1]
