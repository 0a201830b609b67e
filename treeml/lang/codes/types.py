"""Codes of types, units and numbers that do not fit."""

from __future__ import annotations

from treeml.lang.codes.entry import CodeEntry

TYPES = (
    CodeEntry(
        "T301",
        "the measure and the target do not fit",
        "`accuracy` and its kin count classes, `squared_loss` and its kin measure distances between numbers, and "
        "`cluster_loss` needs no target.",
        "column minutes : number\npredict minutes\nmaximize accuracy",
        "For a number minimize `squared_loss`, `absolute_loss` or `quantile_loss(0.5)`. If the numbers name classes, "
        "declare `column minutes : category`.",
    ),
    CodeEntry(
        "T302",
        "a strict comparison of what is not a whole number",
        "`<` and `>` have an exact closed form only for whole numbers: `depth < 4` is `depth <= 3`. There is no "
        "largest "
        "accuracy below 90%.",
        "require accuracy > 90%",
        "Write `require accuracy >= 90%`.",
    ),
    CodeEntry(
        "T303",
        "a strict comparison of a whole number with one that is not whole",
        "Depth is 0, 1, 2, and so on; `depth < 3.5` can only mean `depth <= 3`, and is better written so.",
        "require depth < 3.5",
        "Write `require depth <= 3`.",
    ),
    CodeEntry(
        "T304",
        "no tree can ever meet this limit",
        "Shares lie between 0% and 100%, counts are not negative, and a tree has at least one leaf.",
        "require accuracy >= 90",
        "Write `require accuracy >= 90%`, or another limit that can be met.",
    ),
    CodeEntry(
        "T305",
        "the unit does not fit",
        "A limit is in the unit of what it bounds: shares with `%` or as a fraction, numbers of rows with `rows` or "
        "plainly, times with `ms`, `s`, `min` or `h`.",
        "require errors <= 5%\nsolve within 5",
        "`errors` counts rows, so bound `error_rate <= 5%`; a time needs a unit: `within 5 min`.",
    ),
    CodeEntry(
        "T306",
        "a param lies outside its domain",
        "The domain in the declaration holds for the default, for `set` and for what is given when solving.",
        "param price = 0.01 in 0 .. 0.5\nset price = 5",
        "Give a value inside the domain (five per cent is `5%`), or widen it.",
    ),
    CodeEntry(
        "T307",
        "the expression is not linear",
        "Goals and requirements are sums of measures with constant factors, so that every answer can be proved "
        "exactly. "
        "Two measures cannot be multiplied or divided.",
        "minimize errors * leaves",
        "Add them with weights, bound one of them, or multiply a quotient out: `errors <= 0.1 * leaves`.",
    ),
    CodeEntry(
        "T308",
        "the arguments of a measure do not fit",
        "Some measures need a class, a column, a level or conditions, which stand in parentheses.",
        "require recall >= 40%",
        'Say which class: `require recall("ill") >= 40%`.',
    ),
    CodeEntry(
        "T309",
        "an option has an impossible value",
        "Folds number at least 2, pieces are whole, a share held out lies strictly between 0% and 100%.",
        "validate by folds(1)",
        "Write a value in the range that the message states.",
    ),
    CodeEntry(
        "T310",
        "a number is needed, or a comparison",
        "Costs, weights and limits are numbers that are known before there is a tree; a requirement compares a "
        "measure "
        "with something.",
        "require accuracy",
        "Write `require accuracy >= 90%`.",
    ),
    CodeEntry(
        "T311",
        "this says nothing about the tree",
        "A requirement or a goal in which no measure is left is the same for every tree.",
        "require 1 <= 2",
        "Name a measure. To limit a param, declare its domain: `param price in 0 .. 0.5`.",
    ),
    CodeEntry(
        "T312",
        "text and number do not fit",
        "A param is a number or a text, as declared or as its default shows, and keeps to it.",
        "param most : integer = 2.5",
        "Give a value of the declared type, or change the type.",
    ),
    CodeEntry(
        "T313",
        "a statement is missing",
        "A complete specification says what is predicted (unless it clusters, or `y` is given from Python) and "
        "what is "
        "best.",
        'data "heart.csv"\npredict disease\nrequire depth <= 3',
        "Add an objective such as `maximize accuracy`, or `satisfy` for any tree that meets the requirements.",
    ),
    CodeEntry(
        "T314",
        "a division by zero",
        "The result is not a number.",
        "minimize errors / 0",
        "Divide by another number.",
    ),
    CodeEntry(
        "T315",
        "measures of different tasks",
        "The leaves of one tree hold classes or numbers or the centers of clusters, so measures of two kinds "
        "cannot be "
        "combined.",
        "minimize errors + squared_loss",
        "Keep to measures of one kind.",
    ),
    CodeEntry(
        "T316",
        "two statements exclude each other",
        "`satisfy` asks for any tree and an objective for the best; `margin` belongs to an ensemble, and an "
        "ensemble is "
        "chosen by its `margin`; `start` and `improve` begin with one tree, and `list` looks at all of them; costs are "
        "stated by class or by row.",
        "maximize accuracy\nsatisfy",
        "Remove one of the two.",
    ),
    CodeEntry(
        "T317",
        "a column is used in two ways that do not fit",
        "A target is not a feature, categories have no order to cut, and numbers have no levels.",
        "column sex : category\nbinarize sex at 1, 2",
        "Write `binarize sex by levels`, or declare another type.",
    ),
    CodeEntry(
        "T318",
        "a weight or cost is negative",
        "Weights and costs are sums that can only grow; a negative one would make mistakes welcome.",
        "cost test insulin = -12",
        "Write 0 or more.",
    ),
    CodeEntry(
        "T319",
        "`start`, `improve` and `list` do not apply to a forest",
        "`start` and `improve` apply to one tree and `list` to single trees; the trees of a forest are found by "
        "pricing.",
        "ensemble by lpboost(penalty = 0.05) improve by subtrees",
        "Remove one of the two statements.",
    ),
    CodeEntry(
        "T320",
        "a discount for tests does not fit",
        "Columns that are tested together are at least two, and a test costs no more after another one than by itself.",
        "cost test scan after x_ray = 100",
        "State the full price, too: `cost test scan = 250`.",
    ),
    CodeEntry(
        "T321",
        "a measure that can only be reported",
        "Some familiar measures are not sums over rows or leaves, so no back-end can prove which tree is best by them.",
        'maximize auc("yes")',
        'Optimize what the message names, and write `report measures, auc("yes")` to see the value.',
    ),
    CodeEntry(
        "T330",
        "an amount of memory cannot be read",
        "Memory is a number of bytes, or a number with `KB`, `MB`, `GB` or their binary kin.",
        "treeml solve spec.tml --memory lots",
        "Write `--memory 500MB` or `--memory 2GB`.",
    ),
    CodeEntry(
        "T331",
        "there is nothing of this kind to tune",
        "`treeml tune --price` adds a price per leaf to a goal that has none, and `--tolerance` changes the limits on "
        "fairness gaps that the spec has.",
        "treeml tune plain.tml --tolerance 0..20%        # plain.tml bounds no gap",
        "Add the statement that the help shows, or vary a param: `--set name=0..20%`.",
    ),
    CodeEntry(
        "T332",
        "the measure to choose by is not known on unseen rows",
        "Sizes are compared by a measure that validation reports: accuracy, the mean losses of numbers, or a share "
        "among the goals and requirements of the spec.",
        "treeml tune plain.tml --measure leaves",
        "Use one of the measures that the note lists.",
    ),
)
