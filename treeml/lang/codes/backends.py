"""Codes of what back-ends refuse, and how they fail."""

from __future__ import annotations

from treeml.lang.codes.entry import CodeEntry

BACKENDS = (
    CodeEntry(
        "B501",
        "a back-end cannot take this specification",
        "Every back-end states what it can minimize and bound; the message says what this one cannot, and why.",
        "require features_used <= 2\nsolve with native",
        "Ask for a back-end that the help names, or leave `with` out. `treeml backends spec.tml` shows who can "
        "solve what.",
    ),
    CodeEntry(
        "B502",
        "no back-end has this name",
        "The name is not registered in this installation.",
        "treeml solve spec.tml --with cpsta",
        "Choose a name from `treeml backends`.",
    ),
    CodeEntry(
        "B503",
        "an option of a back-end does not fit",
        "Options are declared by the back-end, each with its type and range.",
        'model.solve(data, backend="oracle", options={"limt": 10})',
        "Use the names and values that the note lists.",
    ),
    CodeEntry(
        "B504",
        "a back-end does not load",
        "Its package is installed, but importing it fails or it does not keep to the contract.",
        "a package whose entry point names a module that is gone",
        "Update or remove the package; the other back-ends work.",
    ),
    CodeEntry(
        "B505",
        "no back-end takes this problem",
        "Every registered back-end refused; the notes say why, one by one. If one tree is asked for, there is a greedy"
        " one instead.",
        'maximize precision("yes") + recall("yes")\nrequire depth <= 6\nlist up to 5 trees',
        "Follow one of the helps, or relax what most of them name.",
    ),
    CodeEntry(
        "B510",
        "a back-end returned something that is not a tree",
        "Its answer names tests or classes that do not exist. This is a mistake of the back-end.",
        "a back-end of your own under development",
        "Report it to the authors of the back-end; try another one.",
    ),
    CodeEntry(
        "B511",
        "the parts of an answer do not fit together",
        "A back-end said optimal without a tree or without a proof, or the like. This is a mistake of the back-end.",
        "a back-end of your own under development",
        "Report it to the authors of the back-end; try another one.",
    ),
    CodeEntry(
        "B512",
        "the tree of a back-end breaks a requirement",
        "Every answer is checked against the requirements before it is shown. This is a mistake of the back-end.",
        "a back-end of your own under development",
        "Report it to the authors of the back-end; try another one.",
    ),
    CodeEntry(
        "B513",
        "a back-end states a wrong objective",
        "The objective is recomputed exactly from the tree, and differs. This is a mistake of the back-end.",
        "a back-end of your own under development",
        "Report it to the authors of the back-end; try another one.",
    ),
    CodeEntry(
        "B514",
        "a back-end contradicts itself",
        "Its bound is worse than its own tree allows, or a later goal undoes an earlier one. This is a mistake of "
        "the back-end.",
        "a back-end of your own under development",
        "Report it to the authors of the back-end; try another one.",
    ),
    CodeEntry(
        "B515",
        "a back-end failed",
        "The solver behind it raised an error or ended early.",
        "a solver that runs out of memory",
        "Try another back-end, or give it less to do: coarser `binarize`, a smaller depth.",
    ),
    CodeEntry(
        "B516",
        "the tree does not verify against the rows",
        "Objective and requirements are recomputed from the original rows, without any solver; here they differ "
        "from what the back-end said.",
        "a back-end of your own under development",
        "Report it with the specification and the data: the answer must not be used.",
    ),
    CodeEntry(
        "B517",
        "two back-ends contradict each other",
        "Both claim a proof, and the claims cannot both hold.",
        "treeml compare spec.tml",
        "Report it with the specification and the data: one of the two is wrong.",
    ),
    CodeEntry(
        "B518",
        "a model cannot be sent to another process",
        "A comparison runs every back-end in a process of its own, to which the model and the data are copied.",
        "model.compare(frame, ...) with a function that was defined in a notebook cell",
        "Define functions in a module, and give the data as a file, a frame or arrays.",
    ),
    CodeEntry(
        "B519",
        "a reproduction was written",
        "Two claims contradict each other, or an answer did not verify; a folder holds the spec, the data, the seeds "
        "and the versions.",
        "treeml compare spec.tml",
        "Report it with the folder: its README says which commands show it again.",
    ),
    CodeEntry(
        "B520",
        "a back-end makes a claim without evidence",
        "A bound, `optimal` and `infeasible` are claims, and each has to name a rule that supports it. This one names "
        "none, or one that does not support it. This is a mistake of the back-end.",
        "a back-end of your own under development",
        "Report it to the authors of the back-end, who find the rules in docs/writing-a-backend.md; try another one.",
    ),
    CodeEntry(
        "B530",
        "a cluster needs a package that is not installed",
        "A sweep or a solve on several machines is run by Dask, which is not part of the basic installation.",
        "treeml sweep spec.tml --set price=0..1 --cluster tcp://host:8786",
        "Install what the help names.",
    ),
    CodeEntry(
        "B531",
        "there is no cluster at this address",
        "No Dask scheduler answered, or it has no workers.",
        "treeml sweep spec.tml --set price=0..1 --cluster tcp://nowhere:8786",
        "Start a scheduler and workers, and give the address that it prints.",
    ),
    CodeEntry(
        "B532",
        "a sweep was interrupted",
        "Ctrl-C ended the sweep. What had finished is in the table, and in the file of `-o`; what was running "
        "reported what it had and is run again by `--resume`; the rest was not begun. The exit code is 130.",
        "treeml sweep spec.tml --set price=0..1 -o sweep.jsonl",
        "Go on with the same command and `--resume`.",
    ),
    CodeEntry(
        "B540",
        "no certificate can be written",
        "A certificate covers some goals and requirements, rows from a CSV file, and numbers up to a size; the note "
        "says what is not covered here.",
        "treeml certify spec.tml --tree tree.json -o proof.cert.gz",
        "docs/certificates.md lists what is covered; the result of `treeml solve` is verified and proved without one.",
    ),
    CodeEntry(
        "B541",
        "a certificate does not check",
        "TreeML has every certificate checked before it is written, and the checker did not accept this one.",
        "treeml solve spec.tml --certificate proof.cert.gz",
        "This is a mistake of TreeML; please report it with the specification and the data.",
    ),
    CodeEntry(
        "B550",
        "a single tree has no margin",
        "The margin is a measure of the votes of many trees.",
        "maximize margin",
        "Ask for the `accuracy` of one tree, or for an `ensemble` where a back-end grows one.",
    ),
    CodeEntry(
        "B560",
        "it is not said which trees to list, or not in a unit that fits",
        "Trees are listed by number, or by their distance from the best value: as a share of it, or in the unit of the "
        "goal.",
        "minimize error_rate\nlist trees within 3 rows of best",
        "Write `list 100 trees`, `list trees within 2% of best`, or `within 3 rows of best` if the goal counts rows.",
    ),
)
