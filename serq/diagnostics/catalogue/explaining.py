"""SQ999: asking about a code."""

from serq.diagnostics.codes import Code, register

register(
    Code(
        "SQ999",
        "an unknown code",
        "Codes are a closed list, and none of it has this name.",
        "List the codes with `serq explain`.",
    ),
)
