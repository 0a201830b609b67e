"""Estimator <-> plain JSON values: its arguments, its tree or forest, and what was proved.

Unlike a pickle, the file is data: reading it runs no code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from treeml.backends.claims import Evidence
from treeml.backends.contract import Status, Stop
from treeml.model import Model
from treeml.solving.result import Result
from treeml.trees.forest import Forest
from treeml.trees.tree import Tree

VERSION = 1
FOUND = ("backend", "objective", "bound", "gap", "verified", "seconds", "build_seconds", "raw_status")
LISTS = ("notes", "plan", "conflict")


def write_estimator(estimator: Any) -> dict[str, Any]:
    """A fitted estimator as JSON values."""
    check_is_fitted(estimator)
    result = estimator.result_
    value: dict[str, Any] = {
        "treeml_estimator": VERSION,
        "class": type(estimator).__name__,
        "arguments": {name: _write(given, name) for name, given in estimator.get_params(deep=False).items()},
        "model": {"text": str(estimator.model_), "bindings": _write(estimator.model_.bindings, "params")},
        "result": {"status": result.status.value, "stop": result.stop.value, "measures": dict(result.measures)},
        "forest" if result.tree is None else "tree": (result.tree or result.forest).to_json(),
        "n_features_in": int(estimator.n_features_in_),
        "from_frame": bool(estimator.from_frame_),
    }
    value["result"]["evidence"] = [each.to_json() for each in result.evidence]
    value["result"] |= {name: _write(getattr(result, name), name) for name in (*FOUND, *LISTS)}
    if hasattr(estimator, "feature_names_in_"):
        value["feature_names_in"] = estimator.feature_names_in_.tolist()
    if hasattr(estimator, "classes_"):
        value["classes"] = {"labels": estimator.classes_.tolist(), "type": estimator.classes_.dtype.str}
    if hasattr(estimator, "importances_"):
        value["importances"] = estimator.importances_.tolist()
    if hasattr(estimator, "labels_"):
        value["labels"] = estimator.labels_.tolist()
    return value


def read_estimator(kind: Any, value: Any) -> Any:
    """The estimator of this class that the values describe."""
    if isinstance(value, (str, bytes)):
        value = json.loads(value)
    if not isinstance(value, Mapping) or value.get("treeml_estimator") != VERSION:
        raise ValueError(f"this is not an estimator in version {VERSION} of the form that to_json writes")
    if value["class"] != kind.__name__:
        raise ValueError(f"this is an {value['class']}; read it with {value['class']}.from_json")
    estimator = kind(**{name: _read(given) for name, given in value["arguments"].items()})
    estimator.n_features_in_ = value["n_features_in"]
    estimator.from_frame_ = value["from_frame"]
    tree = Tree.from_json(value["tree"]) if "tree" in value else None
    forest = Forest.from_json(value["forest"]) if "forest" in value else None
    estimator.model_ = Model.parse(value["model"]["text"], **_read(value["model"]["bindings"]))
    found = value["result"]
    kept: dict[str, Any] = {name: _read(found[name]) for name in FOUND}
    kept |= {name: tuple(_read(found[name])) for name in LISTS}
    status, stop = Status(found["status"]), Stop(found["stop"])
    evidence = tuple(Evidence.from_json(each) for each in found["evidence"])
    result = Result(status, stop, tree=tree, forest=forest, measures=found["measures"], evidence=evidence, **kept)
    trees = (tree,) if tree is not None else forest.trees if forest is not None else ()
    estimator.result_ = estimator._keep(result, trees[0].inputs)
    if "feature_names_in" in value:
        estimator.feature_names_in_ = np.array(value["feature_names_in"], dtype=object)
    if "classes" in value:
        estimator.classes_ = np.array(value["classes"]["labels"], dtype=np.dtype(value["classes"]["type"]))
    if "importances" in value:
        estimator.importances_ = np.array(value["importances"], dtype=np.float64)
    if "labels" in value:
        estimator.labels_ = np.array(value["labels"], dtype=np.intp)
    return estimator


def _write(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Model):
        return str(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {"dict": [[_write(key, name), _write(held, name)] for key, held in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_write(held, name) for held in value]}
    if isinstance(value, list):
        return [_write(held, name) for held in value]
    raise ValueError(f"{name} is a {type(value).__name__}, which cannot be written as JSON")


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(held) for held in value]
    if isinstance(value, Mapping):
        if "tuple" in value:
            return tuple(_read(held) for held in value["tuple"])
        return {_read(key): _read(held) for key, held in value["dict"]}
    return value
