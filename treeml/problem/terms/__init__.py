"""The terms: everything that goals and bounds can add up, one file each.

A term's file holds its data and all that the package knows of it: its value on a tree, how it changes when rows are
merged or a part of the tree is taken, its phrase for people, its JSON form, and its recurrence for the oracle. To add a
term, write such a file (see `base`) and import it here, or from outside before it is used; then teach it to the
back-ends that can take it natively. Import terms and `Sum` from this package.
"""

from treeml.problem.terms.base import EVERY_TERM, KINDS, Composite, Locality, Part, Term
from treeml.problem.terms.contingency import Contingency, rounded_root
from treeml.problem.terms.custom import Custom, StoredCost
from treeml.problem.terms.depth import Depth
from treeml.problem.terms.largest import Largest
from treeml.problem.terms.leaf_errors import LeafErrors
from treeml.problem.terms.leaves import Leaves
from treeml.problem.terms.loss import Loss
from treeml.problem.terms.monotone import Monotone
from treeml.problem.terms.predicted import Predicted
from treeml.problem.terms.purity import Purity
from treeml.problem.terms.ratio import Ratio
from treeml.problem.terms.recurrence import Recurrence
from treeml.problem.terms.sum import Sum
from treeml.problem.terms.support import Support
from treeml.problem.terms.test_cost import DiscountedTestCost, TestCost
from treeml.problem.terms.used import Used
from treeml.problem.terms.weighted_depth import WeightedDepth

__all__ = [
    "EVERY_TERM",
    "KINDS",
    "Composite",
    "Contingency",
    "Custom",
    "Depth",
    "DiscountedTestCost",
    "Largest",
    "LeafErrors",
    "Leaves",
    "Locality",
    "Loss",
    "Monotone",
    "Part",
    "Predicted",
    "Purity",
    "Ratio",
    "Recurrence",
    "StoredCost",
    "Sum",
    "Support",
    "Term",
    "TestCost",
    "Used",
    "WeightedDepth",
    "rounded_root",
]
