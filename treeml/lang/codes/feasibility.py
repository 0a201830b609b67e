"""Codes of requirements that nothing meets."""

from __future__ import annotations

from treeml.lang.codes.entry import CodeEntry

FEASIBILITY = (
    CodeEntry(
        "F601",
        "no tree meets these requirements together",
        "A back-end proved that among all trees over these tests none meets all requirements. The requirements "
        "named are "
        "enough for that; the others are not needed.",
        "require errors = 0\nrequire depth <= 2",
        "Relax one of those named, or offer finer tests with `binarize`.",
    ),
    CodeEntry(
        "F602",
        "the rows alone rule a requirement out",
        "Rows that agree on every feature end in the same leaf of every tree, so a tree errs on some of them whenever "
        "they are not of one class. Counting such rows shows that no tree of any depth can meet this requirement.",
        "require errors = 0",
        "Ask for what is possible (the message says what that is), clean the rows named, or tell them apart with "
        "another column or finer cuts.",
    ),
    CodeEntry(
        "F603",
        "requirements contradict each other on any data",
        "A few facts hold for every tree: one of depth d has at most 2^d leaves, and one that tests k columns has at "
        "least k + 1 leaves. These requirements break one of them, so no data can help.",
        "require depth <= 3\nrequire leaves >= 9",
        "Relax or remove one of the lines shown.",
    ),
    CodeEntry(
        "F610",
        "the search ended without a tree",
        "A limit of time or memory was reached, or the search was interrupted, before any tree was found that "
        "meets all "
        "requirements. Nothing is known about whether there is one.",
        "solve within 10 ms",
        "Allow more time or memory, relax a requirement, or give a tree to begin with: `start from cart(depth = 3)`.",
    ),
)
