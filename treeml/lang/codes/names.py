"""Codes of unknown names and of names that clash."""

from __future__ import annotations

from treeml.lang.codes.entry import CodeEntry

NAMES = (
    CodeEntry(
        "N201",
        "no param has this name",
        "`set`, `--set` and keywords in Python give values to params that a `param` statement declares.",
        "param price = 0.01\nset prise = 0.02",
        "Correct the name, or declare the param. `treeml params spec.tml` lists what is declared.",
    ),
    CodeEntry(
        "N202",
        "a name does not stand for a number",
        "Where a number is needed, a name must be that of a param.",
        "param price = 3\ncost test insulin = prize",
        "Correct the name, declare the param, or write the number.",
    ),
    CodeEntry(
        "N203",
        "unknown measure",
        "Measures are the names in the registry that `treeml explain measures` prints. What other tools call "
        "`max_depth` "
        "is `depth` here, `min_samples_leaf` is `support`, and a complexity parameter is the factor in "
        "`error_rate + 0.01 * leaves`.",
        "minimize error_rate + 0.01 * leafs",
        "Write the name that is suggested. Names in backquotes are always columns.",
    ),
    CodeEntry(
        "N204",
        "no back-end has this name",
        "Back-ends are named by what they are, not by the product behind them: `cpsat`, `mip`, `maxsat`, `native`.",
        "solve with gurobi",
        "Choose a name from `treeml backends`, or leave `with` out: the best capable back-end is then chosen.",
    ),
    CodeEntry(
        "N205",
        "something is said twice",
        "Order never matters in a specification, so of two statements about the same thing neither can win.",
        'predict income is ">50K"\npredict sex',
        "Remove one of the two. Two goals are joined by `then`.",
    ),
    CodeEntry(
        "N206",
        "no option or argument has this name",
        "Methods, back-ends and measures take the options that they declare, and no others.",
        "improve by subtrees(deep = 3)",
        "Use one of the options that the note lists.",
    ),
    CodeEntry(
        "N207",
        "no method has this name",
        "`binarize`, `ensemble`, `start`, `improve`, `validate` and `report` each know a few methods.",
        "validate by kfold(5)",
        "Write one of those in the help: `validate by folds(5)`.",
    ),
    CodeEntry(
        "N208",
        "an included file cannot be read",
        "The path of an `include` is relative to the file in which it stands.",
        'include "nowhere.tml"',
        "Correct the path; the help says where the file was looked for.",
    ),
    CodeEntry(
        "N209",
        "a file is included twice, or includes itself",
        "An included file counts as if its statements stood in place of the `include`. Twice would say everything "
        "twice, "
        "and a circle would never end.",
        'include "columns.tml"\ninclude "columns.tml"',
        "Remove one of the two, or move what several files share into a file of its own.",
    ),
    CodeEntry(
        "N210",
        "a param has the name of a measure",
        "`require depth <= depth` could not be read if both were called `depth`.",
        "param depth = 3",
        "Call the param `max_depth`.",
    ),
    CodeEntry(
        "N211",
        "a column has no such property",
        "After the type of a column may stand `sensitive`, and one of `missing drop`, `missing separate` and "
        "`missing median`.",
        "column age : number, missing mean",
        "Write `column age : number, missing median`.",
    ),
    CodeEntry(
        "N212",
        "a param has no value",
        "A param without a default must be given a value by `set`, by `--set` or from Python.",
        "param price in 0 .. 0.5\nminimize error_rate + price * leaves",
        "Give it a default, `param price = 0.01 in 0 .. 0.5`, or a value: `--set price=0.01`.",
    ),
    CodeEntry(
        "N213",
        "no requirement has this name",
        "`treeml explain --why --nearest` asks how far one requirement would have to give. A requirement is called by "
        "the name before its colon, by its whole text, or by a measure that no other requirement has.",
        "require perfect: errors = 0\n# treeml explain --why spec.tml --nearest perfekt",
        "Write the name as it stands in the spec, `--nearest perfect`, or a measure: `--nearest errors`.",
    ),
    CodeEntry(
        "N214",
        "several requirements use this measure",
        "`--nearest accuracy` means the one requirement that uses accuracy; here there are several.",
        "require low: leaves >= 2\nrequire high: leaves <= 8\n# treeml explain --why spec.tml --nearest leaves",
        "Write the name of one of them: `--nearest high`.",
    ),
    CodeEntry(
        "N215",
        "no case of the conformance suite has this name",
        "`treeml conformance BACKEND --case NAME` runs one case of the suite.",
        "# treeml conformance native --case goal-eror",
        "Write a name as `treeml conformance BACKEND` prints it.",
    ),
    CodeEntry(
        "N216",
        "a measure of another package cannot be used",
        "An installed package registers a measure of this name, but its declaration fails to load or is incomplete.",
        "minimize accuracy_gap(sex)  # the package that declares it raises an error when it is imported",
        "Update or remove the package; `treeml explain measures` lists the measures that can be used.",
    ),
)
