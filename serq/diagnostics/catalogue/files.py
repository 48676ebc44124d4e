"""SQ0xx: files, JSON and the shape of the IR."""

from serq.diagnostics.codes import Code, register

register(
    Code(
        "SQ001",
        "a file cannot be read or written",
        "The file is missing, is not readable, is a folder, or its folder cannot be written.",
        "Check the path and its permissions.",
    ),
    Code(
        "SQ002",
        "the file is not JSON",
        "An IR file is one JSON document. It is empty, truncated or has a syntax error at the place shown.",
        "Print the IR of a program again with `serq ir FILE.sq`.",
    ),
    Code(
        "SQ003",
        "another IR version",
        "The version identifies what a program means; a document of another version may mean something else.",
        "Compile the program again from its source.",
    ),
    Code(
        "SQ004",
        "a field is missing",
        "Fields without a default must be written, so that a truncated or hand-made document is not misread.",
        "Add the field named.",
    ),
    Code(
        "SQ005",
        "unknown field",
        "A field this version does not know could change the program's meaning, so it is not dropped silently.",
        "Remove the field, or correct its spelling.",
    ),
    Code(
        "SQ006",
        "a value of the wrong kind",
        "The IR's shape is fixed: the value at this path is not what the position takes.",
        "Write the kind of value named in the message.",
    ),
    Code(
        "SQ007",
        "unknown word",
        "A tag, operator, function, distribution or other closed word of the IR is not one of its list.",
        "Use one of the words of the list, or correct the spelling.",
    ),
    Code(
        "SQ008",
        "nested too deeply",
        "Expressions are limited in depth so that every tool can walk them.",
        "Name parts of the expression with attributes set before it.",
    ),
    Code(
        "SQ009",
        "a number out of range",
        "The number is NaN, infinite where only a finite one makes sense, or outside the range of its field.",
        'Write a number in range; where a constant may be infinite, the strings "inf" and "-inf".',
    ),
    Code(
        "SQ010",
        "the file is too large",
        "Programs are small; a file of this size is not one.",
        "Check the path.",
    ),
)

register(
    Code(
        "SQ011",
        "a trace cannot be read",
        "The program replays a trace, and its file is missing or is not text.",
        "Place the trace where the program says, or name it with `--trace-file`.",
    ),
    Code(
        "SQ012",
        "a bad line in a trace",
        "A trace has one row a turn: session, turn, new, out, think and optionally forced, all numbers.",
        "Correct the line; header lines begin with `session`, comments with `#`.",
    ),
    Code(
        "SQ013",
        "this trace cannot be written out",
        "Writing a trace into the program needs to know which session replays which trace session.",
        "Use `trace … ordered` with `arrive batch(n)` or explicit sessions.",
    ),
    Code(
        "SQ014",
        "sessions name an attribute the program does not have",
        "Explicit sessions preset attributes by name; this name is not one of the program's.",
        "Correct the name, or add the attribute to the program.",
    ),
    Code(
        "SQ015",
        "inputs for a program that has none left",
        "Inputs and instances decide how a source program is compiled; an IR file is compiled already.",
        "Compile the source again with the inputs.",
    ),
)
