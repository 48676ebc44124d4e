"""A Pygments lexer for `.sq` files, for documents that show programs.

Keywords of the language are contextual; the lexer shows a word as a keyword unless it follows
a dot, is called like a function, or is assigned.
"""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
)

from serq.ir.tables import AGGREGATES, BUILTIN_ATTRIBUTES, CONTEXT_VARIABLES, DISTRIBUTIONS, FUNCTIONS

DECLARATIONS = "claim def device engine fn gauge let pool queue server session share stage use workload"
STATEMENTS = (
    "Cost Size branch choose decode drop else end fork grow hold join load loop mark observe prefill "
    "release run set tool transfer turn while"
)
CLAUSES = (
    "admission admit advance arrive at block by cache cap each every evict exclusive execute first from "
    "given granule growing head held hidden in init iteration latency lease most nic of on only ordered "
    "preempt pull push request requeue reserve reuse running schedule serve some spill state tail taking "
    "to tokens trace via waiting when with"
)
KINDS = "batch bottleneck closed delay fifo gateway lifo link lru maxmin none poisson ps renewal"
SETTINGS = "arrivals horizon seed warmup"

_FUNCTIONS = [*(f.text for f in FUNCTIONS), *(a.text for a in AGGREGATES), "blocksize", "cost"]
_DISTRIBUTIONS = "|".join(d.text for d in DISTRIBUTIONS)
_VARIABLES = [*(v.text for v in CONTEXT_VARIABLES), *BUILTIN_ATTRIBUTES, "inf"]


def _word(*lists: str) -> words:
    return words(" ".join(lists).split(), prefix=r"\b", suffix=r"\b")


class SerqLexer(RegexLexer):  # type: ignore[misc]
    """Tokens of a `.sq` file: `pygments.highlight(text, SerqLexer(), formatter)`."""

    name = "serq"
    aliases: ClassVar[list[str]] = ["serq", "sq"]
    filenames: ClassVar[list[str]] = ["*.sq"]
    url = ""
    tokens: ClassVar[dict[str, list[object]]] = {
        "root": [
            (r"\s+", Text),
            (r"//[^\n]*", Comment.Single),
            (r"/\*[\s\S]*?\*/", Comment.Multiline),
            (r'"[^"]*"', String.Double),
            (r"(?:[0-9]|\.[0-9])[0-9_.]*(?:[eE][+-]?[0-9]+)?", Number),
            (r"(\.)(\s*)([^\W\d]\w*)", bygroups(Operator, Text, Name.Attribute)),
            (rf"(~)(\s*)({_DISTRIBUTIONS})\b", bygroups(Operator, Text, Name.Builtin)),
            (r"\b(def|fn)(\s+)([^\W\d]\w*)", bygroups(Keyword.Declaration, Text, Name.Function)),
            (r"\b(?:sum|min|max)(?=\s+[^\W\d]\w*\s+in\b)", Name.Builtin),
            (words(_FUNCTIONS, prefix=r"\b", suffix=r"\b(?=\()"), Name.Builtin),
            (r"[^\W\d]\w*(?=\s*=(?!=))", Name.Variable),
            (_word(DECLARATIONS), Keyword.Declaration),
            (_word(STATEMENTS, CLAUSES, SETTINGS), Keyword),
            (_word(KINDS), Keyword.Type),
            (words(_VARIABLES, prefix=r"\b", suffix=r"\b"), Name.Builtin.Pseudo),
            (r"[^\W\d]\w*", Name),
            (r"<=|>=|==|!=|&&|\|\||[-+*/^<>!?:~=.]", Operator),
            (r"[,;(){}\[\]]", Punctuation),
        ],
    }
