"""The fit and predict of the DL8.5 library, solved by TreeML: switch by changing the import.

    from treeml.dl85 import DL85Classifier        # was: from pydl85 import DL85Classifier

What describes the tree means what it means there (Aglin, Nijssen and Schaus 2020): `max_depth`, `min_sup`, `max_error`,
`stop_after_better`, `time_limit`, `error_function`, `fast_error_function`, `leaf_value_function`. What
steers the search (orders, the cache and its size, bounds) becomes options of the native solver; the few arguments
without a counterpart are taken, and a value other than the default is answered with a warning. Columns need not be
binary.
"""

import treeml.estimators.needed  # noqa: F401
from treeml.estimators.dl85 import DL85Classifier, DL85Cluster, DL85Predictor
from treeml.estimators.dl85_booster import (
    MODEL_LP_AGLIN,
    MODEL_LP_DEMIRIZ,
    MODEL_LP_RATSCH,
    MODEL_QP_MDBOOST,
    DL85Booster,
)
from treeml.estimators.dl85_steering import Cache_Type, Wipe_Type

__all__ = [
    "MODEL_LP_AGLIN",
    "MODEL_LP_DEMIRIZ",
    "MODEL_LP_RATSCH",
    "MODEL_QP_MDBOOST",
    "Cache_Type",
    "DL85Booster",
    "DL85Classifier",
    "DL85Cluster",
    "DL85Predictor",
    "Wipe_Type",
]
