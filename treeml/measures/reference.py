"""The declarations of measures -> docs/measures.md, which `python -m treeml.measures.reference` writes again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from treeml.lang.measures import BUILT_IN, Measure, Parameter

GROUPS = {
    "size": "The size of the tree",
    "errors": "Errors",
    "rates": "Rates of classes",
    "fairness": "Fairness between groups",
    "costs": "Costs",
    "losses": "Losses of numbers and clusters",
    "survival": "Times of survival",
    "leaves": "The worst leaf",
    "features": "Columns",
    "ensembles": "Ensembles",
}
UNITS = {
    "count": "whole number",
    "rows": "rows, unweighted",
    "weight": "weight of rows",
    "share": "share, 0 to 1",
    "cost": "cost",
    "loss": "loss",
    "truth": "true or false",
    "quotient": "number",
    "value": "number",
}
TASKS = {
    "any": "any",
    "classes": "classes",
    "numbers": "numbers",
    "clusters": "clusters",
    "ensemble": "ensembles",
}
INTRODUCTION = """\
# Measures

What can be minimized, maximized, required and reported. Rows have weights (1 unless `weight` says otherwise); every
value is computed exactly, in whole numbers and fractions, by the same definitions in the checker, in every back-end
and when an answer is verified.

This page is generated from the declarations of the measures (`python -m treeml.measures.reference`).
"""
REMARKS = {
    "errors": """\
With `weight`, errors are weights, not rows. `error_rate` divides by the weight of all rows.
`balanced_accuracy` needs rows of every class.

`log_loss`, `gini` and `description_length` look at the mixture of classes in the leaves, whatever these predict: a leaf
predicts its heaviest class, unless a requirement wants another one. With the weights c of the K classes of a leaf and
their sum n, a leaf adds n log n minus the sum of c log c to the sum whose mean is `log_loss`, and n minus the sum of
c^2 / n to that of `gini`.

`description_length` is the number of bits of a message from which somebody who knows the columns, but not the classes,
reads the tree and the class of every row (minimum description length, Rissanen 1978): 1 bit per node says whether it
is a leaf; the test of a split is one of T, all tests that the columns allow, and takes log2(T) bits; the classes of the
rows of a leaf are coded one by one, each with its frequency so far plus one half (Krichevsky and Trofimov 1981), which
takes log2(G(n + K/2) / G(K/2)) minus the sum of log2(G(c + 1/2) / G(1/2)) bits, with the gamma function G. It needs no
price on leaves to keep a tree small, and is what `cart(prune = description)` prunes by. With `require depth <= 4`, some
hundred rows and tests are proved in a second or two; without a limit on depth, a proof takes very long.

All three are sums over the leaves, so that `native` and `oracle` minimize them with proof, alone or with a price on
leaves or tests. Logarithms are rounded, so a proof states a tolerance. On the rows of another file, `log_loss` and
`gini` use the shares that the leaves had in training; `description_length` is that of these rows.

`brier` can be reported for classes, too: the mean squared distance of these shares to the class of a row, and half of
it for two classes, as in scikit-learn. `log_loss` takes no share for less than 2.2e-16, which is scikit-learn's limit.
If the rows of another file lack a class, measures that need it have no value there.""",
    "rates": """\
A condition is `predicted = "yes"`, `actual = "yes"`, or a column compared with a value: `sex = "F"`, `age >= 40`. A row
where the column is missing meets no condition on it. `rate(a given b)` is the weight of the rows that meet both,
divided by the weight of those that meet `b`; without `given`, by the weight of all rows.

`precision`, `npv`, and a `rate` with `predicted` after `given`, are shares of the rows that get this prediction; `f1`,
`fbeta` and `jaccard` are shares of the rows that are of the class or predicted as it. If there is no such row they are
undefined: every bound on them then holds, and a goal counts them as 0. A bound on one of them alone is linear, so every
back-end that bounds predictions takes it: `precision("yes") >= 0.8` means that the true positives are at least 0.8
times all positives. As a goal, one of them alone is optimized by every back-end that minimizes a sum over the
predictions, with proof ([the plan](backends.md#the-plan)), also with a price on leaves: `maximize f1("yes") - 0.01 *
leaves`. Any other sum that contains one is taken by `oracle` only.

`mcc("yes")` and `gmean` hold roots, so no sum of counts compares them, but both rise with the true positives and fall
with the false positives. As a goal of their own they are maximized or minimized, and in requirements of their own
bounded, by every back-end that bounds sums over the predictions, with proof: by [search over the
counts](backends.md#the-plan). Their values are rounded down after 80 digits. They may have a price on leaves as well;
any other sum with one of them is taken by `oracle` only. `gmean` of more than two classes is only reported.

`ratio(a, b)` is any other quotient of two sums over the predictions, with the same rules: `a` and `b` are sums of
measures that add up rows, such as `count(...)`, `errors`, `recall("yes")` or `mistake_cost`, with factors and
constants: `ratio(count(predicted = "yes", actual = "no"), errors) <= 40%`. The denominator must never be negative, and
0 only together with the numerator. A count without `predicted`, such as `count(actual = "yes")`, is the same for every
tree; it may stand beside other measures, as in `count(predicted = "yes") <= count(actual = "yes")`, and not alone.""",
    "fairness": """\
The groups are the levels (or distinct values) of the column that occur in the data; rows where it is missing are a
group of their own. Every group needs rows among those that are compared, otherwise there is nothing to compare and the
data are refused with the name of the group. The positive class is the one of `predict ... is ...`.

An upper bound on a gap is one linear bound for each ordered pair of groups. A lower bound on a gap is not linear.""",
    "costs": """\
`cost predict "a" when "b" = 5` sets the cost of predicting `a` for a row that is `b`; 1 unless stated, 0 where they are
equal. `cost test c = 5` sets what it costs to look at column `c`, once per row that passes a test on it, whatever the
row weighs.

`cost predict "a" by column loss_a` takes the cost of predicting `a` for a row from that row's value of `loss_a`, and
`gain predict "a" by column score_a` counts the value as a negative cost. Classes without such a line cost 0, and the
columns are not tested. With them, `mistake_cost` adds up these costs instead, and `gain` is its negative. A tree that
maximizes the gain is a policy: a report shows what it earns per row, and what each class for all rows would earn,
instead of errors and accuracy, which would compare it with the decisions that were made before.

`cost test a, b together = 20` costs 20 for the first of the columns on a path, and nothing for the others; `cost test b
after a = 3` lowers the cost of `b` below a test of `a`. If several discounts apply, the largest counts.""",
    "losses": """\
Each leaf predicts the constant that is best for the loss: its weighted mean, its median, or its quantile. Where several
constants are equally good, the median and the quantile are the lowest of them that is the value of a row. For
`quantile_loss(q)` a row above the prediction costs q times its distance, a row below it 1 - q times.
`cluster_loss` adds up the losses of its columns, each with its own constant.

With `leaves linear(x1, x2, ridge = 0.1)`, each leaf holds a linear model of these columns instead of a constant, or
of all columns of numbers if none is named. `squared_loss` then adds up the squares, plus, for every leaf, ridge times
its weight times the sum of its squared slopes, where slopes are those of columns with variance 1, as in STreeD. With
`leaves simple_linear(x1, x2)`, the model of a leaf has one of these columns, the best for its rows. Models are
computed in floating point, so a proof states a tolerance: ten digits of the squares around the mean. `native` and
`oracle` take it, alone or with a price on leaves or tests. `then minimize leaves` breaks ties: `oracle` those of
rounded values, so of two trees that are equal in exact arithmetic the larger one can win; `native` those within the
tolerance of the proof. `mse`, `rmse`, `r2` and `mean_absolute_error` can be reported, and do not count the ridge.""",
    "survival": """\
With `predict months observed died`, a row has a time, and the end of that time was observed (1, true or yes) or not (0,
false or no: censored). `survival_loss` is the loss of LeBlanc and Crowley (1992), as in STreeD: every leaf has its own
multiple, the relative hazard, of the cumulative hazard of Nelson and Aalen over all rows, which is 1 / (rows + 1)
before the first death. With D deaths in a leaf, H the sum of the hazards of its rows and h the hazard of each, it costs
the sum over the deaths of -log(h), plus D log(H / D); its relative hazard is D / H, or 0.5 / H without deaths, and is
what the tree predicts. Hazards are kept in multiples of 2^-40, and logarithms are rounded, so a proof states a
tolerance, about 1e-11. `native` and `oracle` take it, alone or with a price on leaves or tests; weights of rows are
refused. Here, too, `then minimize leaves` breaks ties of rounded values, or within the tolerance.

`concordance` is Harrell's index; pairs with equal hazards count half. `brier` is the integrated score of Graf and
others (1999), over the moments of deaths before the last time, with the curves of Kaplan and Meier of the leaves,
which pictures of the tree show, too; both are those of scikit-survival. On the rows of another file, the baseline
hazard and the share of rows not lost from sight are those of these rows.""",
    "leaves": """\
`support >= 1%` means at least ceil(n / 100) of the n rows; `leaf_weight` is the same by weight, and a plain number.
`purity` looks at the heaviest class of a leaf, whatever the leaf predicts.""",
    "features": """\
`require uses(age)` and `require monotone(income, increasing)` hold or do not. A tree is monotone along a column if no
input exists whose positive prediction is lost when that column alone is raised (lowered, if decreasing). This is judged
on all inputs, not only on the rows of the data; a missing value is neither higher nor lower than any other.""",
    "ensembles": """\
`margin` is measured over the trees of an ensemble; a single tree does not have one.""",
}


def reference() -> str:
    """The page as Markdown."""
    return "\n".join(_lines()).rstrip() + "\n"


def signature(measure: Measure) -> str:
    """How a measure is written: recall(class), cluster_loss(columns, ..., distance)."""
    if not measure.parameters:
        return measure.name
    return f"{measure.name}({', '.join(_parameter(parameter) for parameter in measure.parameters)})"


def _lines() -> Iterator[str]:
    yield INTRODUCTION
    for group, title in GROUPS.items():
        members = [measure for measure in BUILT_IN.values() if measure.group == group]
        yield f"## {title}\n"
        yield "| measure | is | for | unit | usually |"
        yield "| --- | --- | --- | --- | --- |"
        for measure in members:
            cells = (
                f"`{signature(measure)}`",
                measure.summary,
                TASKS[measure.task],
                UNITS[measure.unit],
                f"{measure.goal}d" if measure.goal else "bounded",
            )
            yield f"| {' | '.join(cells)} |"
        yield ""
        if group in REMARKS:
            yield REMARKS[group] + "\n"


def _parameter(parameter: Parameter) -> str:
    if parameter.kind == "conditions":
        return "conditions given conditions"
    text = " or ".join(parameter.choices) if parameter.choices else parameter.name
    text += ", ..." if parameter.repeated else ""
    return f"[{text}]" if parameter.optional else text


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else "docs/measures.md").write_text(reference(), encoding="utf-8")
