"""The state of an improvement <-> a file, so that it can be resumed after it was stopped.

The file is replaced atomically, so a crash never leaves a truncated one. It holds the tree, what was tried without
success, and a hash of the rows and goals, so that a file of another problem is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from treeml.backends.improve.vertices import Vertex, flat_of, node_of_flat
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.native.shallow import FlatShallowTree
from treeml.problem.problem import Problem
from treeml.problem.tree import Node
from treeml.system.reading import read_text
from treeml.system.writing import replace_file

VERSION = 1


@dataclass(frozen=True, slots=True)
class Saved:
    tree: Node
    rounds: int
    settled: dict[int, tuple[int, int, bool]] = field(default_factory=dict)


def fingerprint(problem: Problem) -> str:
    """A hash of the rows, the tests, the goals and the bounds."""
    state = blake2b(digest_size=16)
    for feature in problem.features:
        state.update(f"{feature.name}/{feature.kind}/{feature.first_test}/{feature.tests}".encode())
        if feature.codes is not None:
            state.update(np.ascontiguousarray(feature.codes).tobytes())
    if problem.given_bits is not None:
        state.update(np.packbits(problem.given_bits).tobytes())
    state.update(np.ascontiguousarray(problem.count).tobytes())
    for total in [goal.sum for goal in problem.goals] + [bound.sum for bound in problem.bounds]:
        for factor, term in total.parts:
            state.update(f"{factor}{type(term).__name__}".encode())
            for name in ("cost", "targets", "weight"):
                array = getattr(term, name, None)
                if array is not None:
                    state.update(np.ascontiguousarray(array).tobytes())
    state.update(" ".join(f"{bound.sense} {bound.limit}" for bound in problem.bounds).encode())
    return state.hexdigest()


def write(path: str, problem_hash: str, root: Vertex, rounds: int, settled: dict[int, tuple[int, int, bool]]) -> None:
    flat = flat_of(root)
    value = {
        "treeml_checkpoint": VERSION,
        "problem": problem_hash,
        "rounds": rounds,
        "depth": root.height,
        "leaves": root.size,
        "tree": {name: getattr(flat, name).tolist() for name in ("test", "yes", "no", "label")},
        "settled": [[str(key), *known] for key, known in settled.items()],
    }
    try:
        replace_file(path, json.dumps(value) + "\n")
    except OSError as error:
        raise DataError(_unusable(path, f"cannot be written: {error.strerror or error}")) from error


def read(path: str, problem_hash: str, problem: Problem) -> Saved | None:
    """The saved state; None if there is no file. A state that does not match the problem is refused."""
    try:
        text = read_text(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(_unusable(path, f"cannot be read: {error.strerror or error}")) from error
    except UnicodeDecodeError as error:
        raise DataError(_unusable(path, "is no text")) from error
    try:
        value = json.loads(text)
        if not isinstance(value, dict) or value.get("treeml_checkpoint") != VERSION:
            raise DataError(_unusable(path, "is not a checkpoint of this version"))
        if value["problem"] != problem_hash:
            raise DataError(_unusable(path, "belongs to other rows, goals or requirements"))
        return Saved(_tree(value["tree"], problem), int(value["rounds"]), _settled(value["settled"]))
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
        raise DataError(_unusable(path, f"is damaged: {error}")) from error


def _tree(value: dict[str, Any], problem: Problem) -> Node:
    flat = FlatShallowTree(*(np.array(value[name], dtype=np.int32) for name in ("test", "yes", "no", "label")))
    size = len(flat.test)
    if size == 0 or any(len(getattr(flat, name)) != size for name in ("yes", "no", "label")):
        raise ValueError("its tree is incomplete")
    for number in range(size):
        splits = flat.test[number] >= 0
        sides = (int(flat.yes[number]), int(flat.no[number]))
        if flat.test[number] >= len(problem.tests) or (splits and not all(number < side < size for side in sides)):
            raise ValueError("its tree has wrong node numbers")
        if not splits and problem.classes and not 0 <= flat.label[number] < problem.classes:
            raise ValueError("its tree has wrong labels")
    return node_of_flat(flat)


def _settled(value: list[list[Any]]) -> dict[int, tuple[int, int, bool]]:
    return {int(key): (int(height), int(level), bool(proved)) for key, height, level, proved in value}


def _unusable(path: str, why: str) -> Diagnostic:
    return Diagnostic(
        "D482",
        f"the checkpoint {path} {why}",
        place=path,
        helps=("remove the file to start over, or name another one",),
    )
