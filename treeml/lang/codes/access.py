"""Codes of access: what a specification may touch and take."""

from __future__ import annotations

from treeml.lang.codes.entry import CodeEntry

ACCESS = (
    CodeEntry(
        "A801",
        "a path leads out of the folder of a specification that is not trusted",
        "With `--untrusted`, a specification reads files in its own folder only, after all links are followed.",
        'data "../others/rows.csv"        # with --untrusted',
        "Put the file into the folder of the specification, or name the data yourself: `--data rows.csv`.",
    ),
    CodeEntry(
        "A802",
        "a specification would write outside its folder",
        "Options that write (`write`, `proof`, `checkpoint`) stay in the folder of the specification whose text gives "
        "them, after all links are followed.",
        'solve with sat(proof = "/home/me/.bashrc")',
        "Name a file in the folder, or ask from the command line: `--proof`, `--write`, `--with`.",
    ),
    CodeEntry(
        "A803",
        "a specification would replace a file that TreeML did not write",
        "A file named in the text of a specification may only replace a file that TreeML wrote, which is recognized by "
        "its first bytes.",
        'solve with cpsat(write = "notes.txt")        # and there is a notes.txt',
        "Name a file that does not exist yet, or remove the one that is there.",
    ),
    CodeEntry(
        "A804",
        "a specification that is not trusted would write a file",
        "With `--untrusted`, options that write are refused in the text of a specification.",
        'solve with mip(write = "model.lp")        # with --untrusted',
        "Remove the option, or ask from the command line: `--write model.lp`.",
    ),
    CodeEntry(
        "A805",
        "a specification that is not trusted is larger than it may be",
        "With `--untrusted`, there are limits to the text, its statements, names, numbers and includes.",
        "a specification of more than 200,000 characters        # with --untrusted",
        "Make it shorter; `SECURITY.md` lists the limits.",
    ),
    CodeEntry(
        "A806",
        "an included file is not a specification",
        "Its mistakes are counted and not shown: its lines are shown only where it ends in .tml, lies in the folder of "
        "the specification, and that is trusted.",
        'include "/etc/passwd"',
        "Name a file that holds a specification. `treeml check` on the file itself shows its mistakes.",
    ),
    CodeEntry(
        "A807",
        "an untrusted specification took all the time or memory it may have",
        "With `--untrusted`, the process ends itself when the limits are passed, whatever it is doing.",
        "a specification that takes more than a minute        # with --untrusted",
        "Give more with `--within` and `--memory`, or make the problem smaller.",
    ),
    CodeEntry(
        "A808",
        "a file that cannot be written under this name",
        "No file system accepts the name: it is too long, or it holds a character that names cannot hold.",
        'solve with mip(write = "....lp")        # and the name has 300 characters',
        "Give it a shorter name of letters and digits.",
    ),
)
