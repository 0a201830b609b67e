"""Codes of what is allowed, but probably not meant."""

from __future__ import annotations

from treeml.lang.codes.entry import CodeEntry

LINT = (
    CodeEntry(
        "L701",
        "this penalty only breaks ties",
        "`errors` counts rows, so all leaves together cost less than one row: the penalty decides only between "
        "trees with "
        "equally many errors.",
        "minimize errors + 0.01 * leaves\nrequire depth <= 6",
        "If a leaf should earn one per cent of the rows, write `minimize error_rate + 0.01 * leaves`. If breaking "
        "ties is "
        "meant, `minimize errors then minimize leaves` says so.",
    ),
    CodeEntry(
        "L702",
        "a param is never used",
        "It is declared, and nothing reads it.",
        "param price = 0.01\nmaximize accuracy",
        "Use it or remove it.",
    ),
    CodeEntry(
        "L703",
        "a requirement follows from another",
        "It rules out nothing that another one does not rule out as well.",
        "require depth <= 3\nrequire depth <= 5",
        "Remove it, or check whether another measure was meant.",
    ),
    CodeEntry(
        "L704",
        "the limit of a whole number is not whole",
        "Depth and its kin are whole numbers, so the limit is rounded to one that means the same.",
        "require support >= 0.01",
        "Write the whole number. A share of the rows needs its sign: `support >= 1%`.",
    ),
    CodeEntry(
        "L705",
        "every tree meets this requirement",
        "The limit lies at the end of what the measure can be.",
        "require accuracy >= 0%",
        "Remove it, or correct the limit.",
    ),
    CodeEntry(
        "L706",
        "something is named twice in a list",
        "The second time changes nothing.",
        "features age, sex, age",
        "Remove one of the two.",
    ),
    CodeEntry(
        "L707",
        "a right answer costs something",
        "The cost is stated for predicting a class when it is that class, which is not a mistake. It is counted all "
        "the same.",
        'cost predict "ill" when "ill" = 5',
        "Name two different classes, unless a right answer really has a price.",
    ),
    CodeEntry(
        "L708",
        "costs without effect",
        "Costs matter only through `mistake_cost` and `test_cost` in a goal or a requirement; `test_cost` is zero "
        "until "
        "some test has a cost.",
        "cost test insulin = 12\nmaximize accuracy",
        "Use the measure, `minimize errors + test_cost`, or remove the costs.",
    ),
    CodeEntry(
        "L709",
        "the goal points the unusual way",
        "Errors are usually minimized and accuracy maximized; this goal asks for the opposite.",
        "maximize errors",
        "Write `minimize errors`, unless the worst tree is wanted.",
    ),
    CodeEntry(
        "L710",
        "cuts out of order, or twice",
        "Cuts are a set: order and repetition change nothing, but often show a typing mistake.",
        "binarize age at 45, 25, 35, 25",
        "Write `at 25, 35, 45`.",
    ),
    CodeEntry(
        "L711",
        "a goal comes too late",
        "An earlier goal has fixed the value of this one, so it can decide nothing more.",
        "minimize errors then minimize leaves then minimize errors",
        "Remove it.",
    ),
    CodeEntry(
        "L712",
        "a sensitive column is not guarded",
        "The column is declared sensitive, yet the tree may split on it and nothing bounds its effect.",
        "column sex : category, sensitive",
        "`forbid split on sex`, or bound a gap: `require parity_gap(sex) <= 5%`.",
    ),
    CodeEntry(
        "L713",
        "a statement about a column that no tree can test",
        "The target, forbidden and excluded columns have no tests, so forbidding, pricing or binarizing them changes "
        "nothing.",
        "predict disease\nforbid split on disease",
        "Remove the statement.",
    ),
)
