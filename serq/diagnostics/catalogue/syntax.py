"""SQ1xx: characters and syntax."""

from serq.diagnostics.codes import Code, register

_GOOD = """\
fn main() {
  stage desk : fifo;
  workload { arrive poisson(1); turn { Size job = ~exp(0.5); } }
  server { run desk (cost(desk, job)); }
}
"""


def _in_server(statements: str) -> str:
    return f"""\
fn main() {{
  pool memory {{ cap 9; }}
  stage desk : fifo;
  workload {{ arrive poisson(1); turn {{ Size job = ~exp(0.5); }} }}
  server {{ {statements} }}
}}
"""


register(
    Code(
        "SQ101",
        "a character the language does not have",
        "Outside comments and strings a program is made of letters, digits, `_` and a few operators.",
        "Remove the character; the hint says what to write for the common ones.",
        _in_server("set half = job % 2; run desk (cost(desk, job));"),
        _in_server("set half = job - 2 * floor(job / 2); run desk (cost(desk, job));"),
    ),
    Code(
        "SQ102",
        "a number with two points",
        "A number has at most one decimal point; `_` may separate digits.",
        "Write the number with one point.",
        _in_server("run desk (cost(desk, 1.2.3));"),
        _in_server("run desk (cost(desk, 1.23));"),
    ),
    Code(
        "SQ103",
        "a comment that never ends",
        "A comment that starts with `/*` runs to the next `*/`, and the file ends before one. Comments do "
        "not nest.",
        "Close the comment.",
        _GOOD + "/* the end\n",
        _GOOD + "/* the end */\n",
    ),
    Code(
        "SQ104",
        "a string that never ends",
        'A string runs to the next `"`; there are no escapes, so a quote always ends it.',
        "Close the string.",
        'use "std/args;\n' + _GOOD,
        'use "std/args";\n' + _GOOD,
    ),
    Code(
        "SQ105",
        "something else was expected",
        "The text does not continue as the grammar asks; the message says what could stand there.",
        "Write what is expected at the place shown.",
        _in_server("run desk;"),
        _in_server("run desk (cost(desk, job));"),
    ),
    Code(
        "SQ106",
        "not a statement",
        "A statement begins with one of the language's statement words, with the name of a definition or "
        "an engine "
        "that is called, or with a queue whose entry is called.",
        "Use one of the statements; a value is assigned with `set`.",
        _in_server("began = now; run desk (cost(desk, job));"),
        _in_server("set began = now; run desk (cost(desk, job));"),
    ),
    Code(
        "SQ107",
        "an unknown word",
        "Options, kinds, roles, laws and forms are closed lists of words, and this is none of the list "
        "asked for here.",
        "Use one of the words of the list, or correct the spelling.",
        _GOOD.replace(": fifo", ": lifo"),
        _GOOD,
    ),
    Code(
        "SQ108",
        "a retired form",
        "An earlier version of the language had this form; another one has replaced it.",
        "Write the form the hint gives.",
        _in_server("if (job > 1) { run desk (cost(desk, job)); }"),
        _in_server("branch (job > 1) { run desk (cost(desk, job)); }"),
    ),
    Code(
        "SQ109",
        "comparisons in a chain",
        "A comparison gives 0 or 1, so `a < b < c` would compare that number with `c`; it is refused.",
        "Compare in pairs and join them with `&&`.",
        _in_server("set mid = 1 < job < 2; run desk (cost(desk, job));"),
        _in_server("set mid = 1 < job && job < 2; run desk (cost(desk, job));"),
    ),
    Code(
        "SQ110",
        "a draw raised to a power",
        "`^` binds tighter than the draw's `~`, so `~d(x) ^ 2` would read as neither.",
        "Put the draw in parentheses.",
        _in_server("set u = ~exp(1) ^ 2; run desk (cost(desk, job));"),
        _in_server("set u = (~exp(1)) ^ 2; run desk (cost(desk, job));"),
    ),
    Code(
        "SQ111",
        "a list ends with a comma",
        "A comma stands between two elements of a list.",
        "Remove the last comma, or write what should follow it.",
        _in_server("set m = min(job, 2,); run desk (cost(desk, job));"),
        _in_server("set m = min(job, 2); run desk (cost(desk, job));"),
    ),
    Code(
        "SQ112",
        "a bracket that is never closed",
        "The file ends inside this bracket.",
        "Close it where it should end.",
        _GOOD.removesuffix("}\n"),
        _GOOD,
    ),
    Code(
        "SQ113",
        "a brace that closes nothing",
        "Every brace above is closed already.",
        "Remove it, or open the block it should close.",
        _GOOD + "}\n",
        _GOOD,
    ),
    Code(
        "SQ114",
        "nested too deeply",
        "Brackets nest at most 200 deep and the tree of an expression is at most 1,000 operations high, "
        "so that "
        "every tool can walk it.",
        "Name inner parts with `let`, `def` or `set`.",
        _in_server("set deep = " + "(" * 201 + "1" + ")" * 201 + "; run desk (cost(desk, job));"),
        _in_server("set flat = 1; run desk (cost(desk, job));"),
    ),
    Code(
        "SQ115",
        "a declaration inside a block",
        "Declarations stand in `fn main() { ... }`. One found inside a block of statements or options "
        "usually means "
        "that the block above was not closed.",
        "Close the block above, or move the declaration.",
        _in_server("run desk (cost(desk, job)); pool more { cap 1; }"),
        _in_server("run desk (cost(desk, job));"),
    ),
    Code(
        "SQ116",
        "a missing `;`",
        "Every statement and every option that is not a block ends with `;`.",
        "Add it at the place shown.",
        _in_server("run desk (cost(desk, job))"),
        _in_server("run desk (cost(desk, job));"),
    ),
    Code(
        "SQ117",
        "a definition that is neither an expression nor statements",
        "A definition's body is one expression without `;`, or statements that each end with their own.",
        "Remove the `;` of a single expression, or make the last expression a statement.",
        "def half(x) { x / 2; }\n" + _GOOD,
        "def half(x) { x / 2 }\n" + _GOOD,
    ),
    Code(
        "SQ118",
        "a cost without a resource or an amount",
        "A cost is an amount of one or more resources, which are named first: `cost(R, e)`, `cost(R, S, e)`.",
        "Name the resources, then write the amount.",
        _in_server("run desk (cost(job));"),
        _in_server("run desk (cost(desk, job));"),
    ),
    Code(
        "SQ119",
        "too many errors",
        "After this many mistakes the rest of the file is not read.",
        "Correct the first ones and compile again.",
    ),
    Code(
        "SQ120",
        "the file is not text",
        "A program is UTF-8 text without zero bytes.",
        "Check the path, or save the file as UTF-8.",
    ),
)
