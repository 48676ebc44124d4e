"""SQ2xx, second part: libraries, definitions, inputs, settings of a text."""

from serq.diagnostics.catalogue.scaffold import program
from serq.diagnostics.codes import Code, register

_ARGS = 'use "std/args";\n'
_TWICE = "def twice(x) { 2 * x }\n"
_CHORE = "def chore(x) { run desk (cost(desk, x)); set done = x; }\n"

register(
    Code(
        "SQ230",
        "a library cannot be read",
        "`use` names a file next to the one that uses it, and that file is missing or unreadable.",
        "Correct the path, which starts at the folder of the file that says `use`.",
    ),
    Code(
        "SQ231",
        "a library used by a text without a file",
        "The path of a library starts at the program's own folder, and a program given as text has none.",
        "Write the program to a file, or the definitions into it.",
        program(before='use "lib.sq";\n'),
        program(before=_TWICE),
    ),
    Code(
        "SQ232",
        "a library holds more than definitions",
        "A library gives names to expressions and statements; what a deployment is stays in the program.",
        "Move everything but `def` and `use` to the program.",
    ),
    Code(
        "SQ233",
        "an unknown built-in library",
        'The one built-in library is "std/args", which declares inputs, and only a program uses it.',
        'Use "std/args", or a file of your own.',
        program(before='use "std/math";\n'),
        program(before=_ARGS),
    ),
    Code(
        "SQ235",
        "a definition twice",
        "A definition is written out where it is called, so its name has one meaning.",
        "Rename or remove one of them.",
        program(before=_TWICE + _TWICE),
        program(before=_TWICE),
    ),
    Code(
        "SQ236",
        "a definition or parameter named by a word of the language",
        "A call of it would read as something else.",
        "Choose another name.",
        program(before="def queue(x) { x }\n"),
        program(before="def queue_of(x) { x }\n"),
    ),
    Code(
        "SQ237",
        "a parameter twice",
        "Two arguments would be written out for one name.",
        "Name one of the parameters otherwise.",
        program(before="def sum_of(x, x) { x + x }\n"),
        program(before="def sum_of(x, y) { x + y }\n"),
    ),
    Code(
        "SQ238",
        "a definition assigns its parameter",
        "A parameter stands for the text of an argument, which cannot be assigned.",
        "Assign another name.",
        program(before="def bump(x) { set x = x + 1; }\n"),
        program(before="def bump(x) { set y = x + 1; }\n"),
    ),
    Code(
        "SQ239",
        "a definition uses itself",
        "A definition is written out where it is used, and this one would never end.",
        "Write the repetition with `while` or an aggregate.",
        program(before="def down(x) { down(x - 1) }\n"),
        program(before="def down(x) { x - 1 }\n"),
    ),
    Code(
        "SQ240",
        "a definition used before it is defined",
        "Definitions are read in order: each uses the ones above it.",
        "Move the definition above its first use.",
        program(before="def sixth(x) { third(x) / 2 }\ndef third(x) { x / 3 }\n"),
        program(before="def third(x) { x / 3 }\ndef sixth(x) { third(x) / 2 }\n"),
    ),
    Code(
        "SQ241",
        "a definition called with the wrong number of arguments",
        "Every parameter stands for one argument.",
        "Pass as many arguments as the definition has parameters.",
        program(before=_TWICE, server="run desk (cost(desk, twice(job, 1)));"),
        program(before=_TWICE, server="run desk (cost(desk, twice(job)));"),
    ),
    Code(
        "SQ242",
        "an expression called as statements, or statements as an expression",
        "A definition is either an expression or statements, and is called where its kind stands.",
        "Use an expression where a value is read, statements as a statement.",
        program(before=_TWICE, server="twice(job);"),
        program(before=_CHORE, server="chore(job);"),
    ),
    Code(
        "SQ243",
        "a drawing argument read more than once",
        "The argument is written out at every read, so each read would be another draw.",
        "`set` the draw first and pass the name.",
        program(before="def square(x) { x * x }\n", server="run desk (cost(desk, square(~exp(1))));"),
        program(
            before="def square(x) { x * x }\n", server="set u = ~exp(1); run desk (cost(desk, square(u)));"
        ),
    ),
    Code(
        "SQ244",
        "an argument reads a name the definition assigns",
        "Written out, the argument would read the definition's own value of that name.",
        "Copy the value to another name and pass that.",
        program(before=_CHORE, server="set done = 1; chore(done);"),
        program(before=_CHORE, server="set first = 1; chore(first);"),
    ),
    Code(
        "SQ245",
        "an argument to statements that changes while they run",
        "The statements would read it where they read the parameter, not at the call.",
        "`set` the value first and pass the name.",
        program(before=_CHORE, server="chore(now);"),
        program(before=_CHORE, server="set t = now; chore(t);"),
    ),
    Code(
        "SQ246",
        "an argument that is not the pool or stage its parameter stands for",
        "The definition uses the parameter as a resource, or indexes it, and the argument cannot be that.",
        "Pass the name of a pool or stage, or of a family when the definition indexes it.",
        program(before="def serve_at(s) { run s (cost(desk, 1)); }\n", server="serve_at(job + 1);"),
        program(before="def serve_at(s) { run s (cost(desk, 1)); }\n", server="serve_at(desk);"),
    ),
    Code(
        "SQ247",
        "definitions that write out too much",
        "Each level of definitions can double the text; a program of that size cannot be handled.",
        "`set` a value once and read the name, instead of writing it out again.",
        program(
            before="def f0(x) { x + x + x + x + x + x + x + x }\n"
            + "".join(f"def f{i}(x) {{ {' + '.join([f'f{i - 1}(x)'] * 8)} }}\n" for i in range(1, 6)),
            server="run desk (cost(desk, f5(job)));",
        ),
        program(before="def f0(x) { x + x }\n", server="run desk (cost(desk, f0(job)));"),
    ),
    Code(
        "SQ250",
        "an input out of place",
        "Inputs come from outside, so the program says that it reads them, and where.",
        'Write `use "std/args";` at the top and `let x = args.number("x", 1);` in `fn main()`.',
        program('let rate = args.number("rate", 1);'),
        program('let rate = args.number("rate", 1);', before=_ARGS),
    ),
    Code(
        "SQ251",
        "an input with an impossible name",
        "An input is given as `--name value`, so its name is written like other names.",
        "Use letters, digits and `_`, not starting with a digit.",
        program('let rate = args.number("arrival rate", 1);', before=_ARGS),
        program('let rate = args.number("arrival_rate", 1);', before=_ARGS),
    ),
    Code(
        "SQ252",
        "an input declared twice",
        "Two defaults for one value from outside would be two programs.",
        "Read the input once and use that constant again.",
        program('let a = args.number("rate", 1);\nlet b = args.number("rate", 2);', before=_ARGS),
        program('let a = args.number("rate", 1);\nlet b = 2 * a;', before=_ARGS),
    ),
    Code(
        "SQ253",
        "a value for an input that is not declared",
        "Only what `args.number` declares can be supplied; a plain `let` is fixed.",
        "Correct the name, or declare the input.",
    ),
    Code(
        "SQ254",
        "a supplied value that is no expression",
        "An input takes a number or an expression over the program's constants.",
        "Supply a number, or correct the expression.",
    ),
    Code(
        "SQ255",
        "a body for a definition that does not exist",
        "Only the body of a definition the program declares can be replaced.",
        "Correct the name.",
    ),
    Code(
        "SQ256",
        "a replaced definition of statements",
        "Only the body of an expression can be supplied from outside.",
        "Replace an expression the statements read.",
    ),
    Code(
        "SQ257",
        "a supplied value that changes an array size",
        "Array sizes are part of the program, not of one experiment with it.",
        "Write the size with a plain `let`.",
    ),
    Code(
        "SQ270",
        "no horizon",
        "How long a program runs is no part of it: every run says so.",
        "Give `--horizon T`, or an instance file that does.",
    ),
)
