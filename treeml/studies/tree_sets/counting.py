"""A listing, what is asked for -> the trees of the list: counted, and of equal functions the best.

Trees of equal function are merged if that needs at most MOST_MERGED trees to be compared. A longer list counts trees as
they are written, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from treeml.backends.contract import Deadline
from treeml.backends.native.distinct import MOST_MERGED, Distinct, distinct_trees
from treeml.backends.native.listing import Reached, Slack, TreeListing
from treeml.data.table import Dataset
from treeml.lang.spec import ListingRequest
from treeml.measures.lower_dataset import Lowered
from treeml.native.sets import SetsStopped
from treeml.studies.tree_sets.sources import ChosenTrees, ListedTrees


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """The trees of a list, and how they were counted."""

    source: ListedTrees
    reached: Reached
    written: int  # trees up to the limit where those of equal function are counted separately
    total: int  # trees up to the limit, counted as `merged` says
    merged: bool  # trees of equal function are counted once
    following: Fraction | None = None  # the value of the first tree that is left out, if it is known
    cut: bool = False  # the limit on compared trees was reached before the number asked for

    @property
    def count(self) -> int:
        return self.source.count


def counted_trees(
    listing: TreeListing, asked: ListingRequest, deadline: Deadline, lowered: Lowered, dataset: Dataset
) -> Counted:
    slack = None if asked.slack is None else Slack(asked.slack, asked.unit == "%")
    reached = listing.extend(slack, asked.most, deadline)
    most = asked.most
    if not asked.style and (listing.total <= MOST_MERGED if most is None else most <= MOST_MERGED):
        try:
            reached, distinct = _merged(listing, reached, most, slack is None, deadline)
        except SetsStopped:
            listing.recount(deadline)
        else:
            return _of_functions(listing, reached, distinct, most, lowered, dataset)
    count = listing.total if most is None else min(listing.total, most)
    source = ListedTrees(listing, lowered, dataset, count)
    following = source.value(count) if count < listing.total else None
    return Counted(source, reached, listing.total, listing.total, False, following)


def _merged(
    listing: TreeListing, reached: Reached, most: int | None, goes_on: bool, deadline: Deadline
) -> tuple[Reached, Distinct]:
    """One tree of every function; a list of n trees goes on until it has n different functions."""
    while True:
        distinct = distinct_trees(listing, None if listing.total <= MOST_MERGED else most, deadline)
        enough = most is None or len(distinct.numbers) >= most or distinct.looked < listing.total
        if enough or not goes_on or reached.exhausted or reached.stop:
            return reached, distinct
        reached = listing.extend(None, 2 * listing.total, deadline)


def _of_functions(
    listing: TreeListing, reached: Reached, distinct: Distinct, most: int | None, lowered: Lowered, dataset: Dataset
) -> Counted:
    numbers = distinct.numbers
    count = len(numbers) if most is None else min(most, len(numbers))
    whole = distinct.looked == listing.total
    chosen = ChosenTrees(listing, lowered, dataset, count, numbers[:count])
    source: ListedTrees = chosen
    if np.array_equal(numbers[:count], np.arange(count)):
        source = ListedTrees(listing, lowered, dataset, count)  # which is faster
    following = ListedTrees.value(source, int(numbers[count])) if count < len(numbers) else None
    cut = not whole and most is not None and count < most
    total = len(numbers) if whole else listing.total
    return Counted(source, reached, listing.total, total, True, following, cut)
