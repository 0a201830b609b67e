"""Arguments that steer the search of the DL8.5 library -> options of the native solver that do the same.

None of them changes the error of the tree that is found, only the work and the memory of the search, and which of
several trees of equal error is kept.
"""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import Any

FOREIGN = {"steers": "nothing here"}  # marks arguments that have no effect
STEERING = {"steers": "the native solver"}  # marks arguments that become its options
PRINTING = {"steers": "what is printed"}


class Cache_Type(Enum):
    """By what the cache of the search finds its entries; the default leaves the choice to the solver.

    >>> from treeml.dl85 import Cache_Type, DL85Classifier
    >>> DL85Classifier(cache_type=Cache_Type.Cache_HashCover)
    """

    Cache_TrieItemset = 1
    Cache_HashItemset = 2
    Cache_HashCover = 3


class Wipe_Type(Enum):
    """Which entries are kept when a cache of `maxcachesize` entries is full.

    >>> from treeml.dl85 import DL85Classifier, Wipe_Type
    >>> DL85Classifier(maxcachesize=5000, wipe_type=Wipe_Type.Reuses, wipe_factor=0.4)
    """

    All = 1
    Subnodes = 2
    Reuses = 3


_KINDS = {Cache_Type.Cache_HashItemset: 2, Cache_Type.Cache_HashCover: 1}
_WIPES = {Wipe_Type.All: 2, Wipe_Type.Subnodes: 1, Wipe_Type.Reuses: 0}
_SWITCHES = {  # each turns an idea of the search off, where the default has it on
    "use_ub": "hierarchical",
    "dynamic_branch": "dynamic",
    "depth_two_special_algo": "pairs",
    "similar_lb": "similarity",
}


def steering(estimator: Any) -> dict[str, Fraction]:
    """The options of the native solver; none for arguments at their defaults."""
    options: dict[str, int] = {}
    if estimator.cache_type in _KINDS:
        options["cache_kind"] = _KINDS[estimator.cache_type]
    if not estimator.use_cache:
        options["cache_kind"] = 0
    if estimator.maxcachesize > 0:
        options["cache"] = int(estimator.maxcachesize)
        options["wipe"] = _WIPES[estimator.wipe_type]
        options["wipe_share"] = min(100, max(1, round(100 * estimator.wipe_factor)))
    if estimator.desc or estimator.asc:
        options["order"] = 2 if estimator.desc else 3
        options["order_everywhere"] = int(bool(estimator.repeat_sort))
    for each in fields(estimator):
        if each.name in _SWITCHES and each.default and not getattr(estimator, each.name):
            options[_SWITCHES[each.name]] = 0
    return {name: Fraction(value) for name, value in options.items()}


def not_default(estimator: Any, *marks: dict[str, str]) -> list[str]:
    """The arguments with one of these marks whose value is not the default."""
    return [
        each.name
        for each in fields(estimator)
        if each.metadata in marks and getattr(estimator, each.name) != each.default
    ]
