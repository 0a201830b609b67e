"""Codes about forests."""

from __future__ import annotations

from treeml.lang.codes.entry import CodeEntry

FORESTS = (
    CodeEntry(
        "D430",
        "all rows are of one class",
        "A margin compares the votes for a row's class with the votes for another, and there is no other.",
        "ensemble by lpboost(nu = 0.1)\nmaximize margin\n# and every row says `yes`",
        "Add rows of another class; rows of weight 0 do not count.",
    ),
    CodeEntry(
        "D431",
        "the penalty is too small for so few rows",
        "With a penalty below 1 / (sum of the weights), giving up every row costs less than it gains, and the soft "
        "margin has no upper limit.",
        "ensemble by lpboost(penalty = 0.001)  # of 100 rows",
        "Give a penalty of at least 1 / (number of rows), or say `nu`: the share of the rows that may be given up.",
    ),
    CodeEntry(
        "D432",
        "penalty and nu are both given",
        "They say the same thing: nu is 1 / (penalty * the sum of the weights).",
        "ensemble by lpboost(penalty = 0.05, nu = 0.1)",
        "Give one of the two.",
    ),
    CodeEntry(
        "D433",
        "rows contradict each other, and no margin may fall short",
        "Of two rows with the same answers to every test and different classes one is always wrong, so that the "
        "smallest margin is never above 0.",
        "ensemble by hardmargin",
        "Let a few rows fall short (`ensemble by lpboost(nu = 0.1)`), or add columns that tell the rows apart.",
    ),
    CodeEntry(
        "D434",
        "the penalty of mdboost is 0",
        "The penalty is what the weights of the trees add up to; with 0 there is no forest.",
        "ensemble by mdboost(penalty = 0)",
        "Give a penalty above 0, such as 12: the larger, the more the variance of the margins counts.",
    ),
    CodeEntry(
        "D435",
        "the rows weigh too little for a variance",
        "A row of weight 2 counts as two rows, and a variance needs more than one row in all.",
        "weight by tiny\nensemble by mdboost",
        "Multiply the weights, or remove `weight by`.",
    ),
    CodeEntry(
        "D436",
        "the criterion takes two classes only",
        "The mean and variance of margins are defined for one margin a row; with more classes a row has several.",
        "predict species  # of three\nensemble by mdboost(penalty = 12)",
        "Use `lpboost` or `hardmargin`, which compare a row's class with the strongest of the others.",
    ),
    CodeEntry(
        "D437",
        "this is not a forest",
        "A forest is read from JSON that a forest wrote, and checked strictly: every tree has a weight above 0, and "
        "all trees predict the same classes.",
        'Forest.read("tree.json")',
        "Write it with `forest.write(path)`, or take the output of `treeml solve --json`; read a single tree with "
        "`Tree.read`.",
    ),
    CodeEntry(
        "D438",
        "rows and classes are not equally many",
        "The margin of a row is that of its class, so there is one class for each row.",
        "forest.margins(frame, labels[:10])",
        "Give as many classes as there are rows.",
    ),
    CodeEntry(
        "D439",
        "a criterion without a grid of penalties",
        "Penalties are tried from a list; this criterion has none of its own.",
        "tune(model, data)  # ensemble by hardmargin",
        "Give one: `tune(model, data, grid=[1, 3, 10])`.",
    ),
    CodeEntry(
        "B522",
        "only a forest has a penalty to tune",
        "Tuning chooses the penalty of an ensemble's criterion.",
        "tune(model, data)  # without `ensemble`",
        "Ask for a forest: `ensemble by lpboost` and `maximize margin`.",
    ),
)
