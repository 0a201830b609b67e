"""A set of trees <-> one file: JSON, or Parquet with a row for every node and every tree.

Trees share their nodes in the file as they do in memory. Reading is strict: numbers that point nowhere are refused, and
reading runs no code. docs/listing.md describes the form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from treeml.backends.claims import Evidence
from treeml.data.limits import ReadingLimits
from treeml.data.table import Dataset
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.display import json_text
from treeml.lang.numerals import exact_number
from treeml.lang.statements import Statements
from treeml.lang.syntax import Include
from treeml.native.sets import SharedNodes
from treeml.solving.pipeline import prepare
from treeml.studies.tree_sets.listed import Listed
from treeml.studies.tree_sets.measures import Measures
from treeml.studies.tree_sets.sources import Roots, TreeSource, head_of, leaf_record, reachable, too_many
from treeml.system.reading import MOST_OF_A_TREE, read_plain, read_text
from treeml.system.writing import replace_file
from treeml.trees.json_form import plain_json
from treeml.trees.nodes import Branch, Node, TreeLeaf, TreeTest
from treeml.trees.routing import answers, dataset_inputs
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    import polars as pl

    from treeml.studies.tree_sets.tree_set import TreeSet

VERSION = 1
DEEPEST = 800
MOST_DECODED = 8 * MOST_OF_A_TREE  # bytes of a Parquet file, packed and decoded together
Whole = NDArray[np.int64]


def write_set(trees: TreeSet, path: Path) -> None:
    """Write the trees of a set to a file."""
    too_many(trees.count)
    content = content_of(trees)
    if path.suffix != ".parquet":
        replace_file(path, json_text(content) + "\n")
        return
    import polars as pl  # imported here: start-up time

    nodes, roots = content.pop("nodes"), content.pop("trees")
    names = ("test", "yes", "no")
    frame = pl.DataFrame({name: [*nodes[name], *roots[name]] for name in names}, schema=dict.fromkeys(names, pl.Int32))
    is_tree = [False] * len(nodes["test"]) + [True] * len(roots["test"])
    head = pl.DataFrame({"test": [None], "yes": [None], "no": [None]}, schema=dict.fromkeys(names, pl.Int32))
    frame = pl.concat([head, frame]).with_columns(
        pl.Series("is_tree", [None, *is_tree], dtype=pl.Boolean),
        pl.Series("about", [json_text(content), *[None] * len(is_tree)], dtype=pl.String),
    )
    buffer = BytesIO()
    frame.write_parquet(buffer)
    replace_file(path, buffer.getvalue())


def content_of(trees: TreeSet) -> dict[str, Any]:
    """The set as plain values."""
    source = trees.source
    nodes, roots = source.nodes(), _chosen_roots(trees)
    kept = reachable(nodes, roots)
    place = np.full(len(nodes.test), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    head = getattr(source, "head", None) or head_of(_dataset(source), source.tests)
    leaves = kept[nodes.test[kept] < 0]
    records = source.leaf_records(leaves.astype(np.int32))
    record = np.full(len(nodes.test), -1, dtype=np.int64)
    record[leaves] = np.arange(len(leaves))
    inner = nodes.test[kept] >= 0
    test, yes, no = roots
    lone = test < 0
    if lone.any():
        records.append(trees.source.tree(int(np.asarray(trees.ranks)[np.flatnonzero(lone)[0]])).leaves[0])
    return {
        "treeml_trees": VERSION,
        "spec": str(trees._measures.model),
        "params": {name: str(value) for name, value in trees._measures.model.bindings.items()},
        "has_target": trees._measures.has_target,
        "listed": _listed_json(trees.listed),
        "values": _runs(str(source.value(int(rank))) for rank in trees.ranks),
        "head": head.to_json(),
        "tests": [_test_json(test, head) for test in source.tests],
        "leaves": [replace(head, root=leaf).to_json()["root"] for leaf in records],
        "nodes": {
            "test": nodes.test[kept].tolist(),
            "yes": np.where(inner, place[np.where(inner, nodes.yes[kept], 0)], record[kept]).tolist(),
            "no": np.where(inner, place[np.where(inner, nodes.no[kept], 0)], -1).tolist(),
        },
        "trees": {
            "test": test.tolist(),
            "yes": np.where(lone, len(leaves), place[np.where(lone, 0, yes)] if len(place) else 0).tolist(),
            "no": np.where(lone, -1, place[np.where(lone, 0, no)] if len(place) else -1).tolist(),
        },
    }


def _dataset(source: TreeSource) -> Dataset:
    assert source.dataset is not None
    return source.dataset


def _chosen_roots(trees: TreeSet) -> tuple[Whole, Whole, Whole]:
    chunks = list(trees.source.chunks())
    ranks = np.asarray(trees.ranks, dtype=np.int64)
    test, yes, no = (
        np.concatenate([chunk[part] for chunk in chunks]).astype(np.int64)[ranks] if chunks else np.zeros(0, np.int64)
        for part in range(3)
    )
    return test, yes, no


def _test_json(test: TreeTest, head: Tree) -> Any:
    leaf = head.leaves[0]
    return replace(head, root=Branch(test, leaf, leaf)).to_json()["root"]["test"]


def _runs(texts: Iterator[str]) -> list[list[Any]]:
    """Equal neighbours once, with how many they are."""
    found: list[list[Any]] = []
    for text in texts:
        if found and found[-1][0] == text:
            found[-1][1] += 1
        else:
            found.append([text, 1])
    return found


def _listed_json(listed: Listed) -> dict[str, Any]:
    exact = {name: None if value is None else str(value) for name, value in _exact_fields(listed)}
    words = {name: getattr(listed, name) for name in ("goal", "sense", "complete", "stop", "statement", "style")}
    numbers = {"total": str(listed.total), "written": str(listed.written), "merged": listed.merged}
    return {**words, **exact, **numbers, "seconds": listed.seconds, "notes": list(listed.notes)}


def _exact_fields(listed: Listed) -> Iterator[tuple[str, Fraction | None]]:
    yield "best", listed.best
    yield "limit", listed.limit


# -- reading ---------------------------------------------------------------------------------


@dataclass(eq=False)
class StoredTrees:
    """The trees of a file."""

    head: Tree
    tests: Sequence[TreeTest]
    records: list[TreeLeaf]
    shared: SharedNodes  # the `yes` of a leaf is its class
    record: Whole  # of every node: its leaf, or -1
    roots: Roots
    values: list[Fraction]
    dataset: Dataset | None = None
    _leaf_rows: dict[int, NDArray[np.intp]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.values)

    def value(self, number: int) -> Fraction:
        return self.values[number]

    def tree(self, number: int) -> Tree:
        test, yes, no = (int(part[number]) for part in self.roots)
        if test < 0:
            root: Node = self.records[-1]
        else:
            root = Branch(self.tests[test], self._node(yes), self._node(no))
        found = replace(self.head, root=root)
        fields = {each.name: each for each in self.head.fields}
        return replace(found, fields=tuple(fields[name] for name in found.columns))

    def _node(self, number: int) -> Node:
        nodes = self.shared
        if nodes.test[number] < 0:
            return self.records[int(self.record[number])]
        sides = (self._node(int(side[number])) for side in (nodes.yes, nodes.no))
        return Branch(self.tests[int(nodes.test[number])], *sides)

    def nodes(self) -> SharedNodes:
        return self.shared

    def chunks(self) -> Iterator[Roots]:
        yield self.roots

    def leaf_records(self, leaves: NDArray[np.int32]) -> list[TreeLeaf]:
        return [self.records[int(self.record[leaf])] for leaf in leaves]

    def leaf_sums(self, leaves: NDArray[np.int32], values: Whole) -> Whole:
        rows = self._rows_of_leaves()
        out = np.zeros((len(leaves), values.shape[1]), dtype=np.int64)
        for place, leaf in enumerate(leaves.tolist()):
            out[place] = values[rows[leaf]].sum(axis=0)
        return out

    def _rows_of_leaves(self) -> dict[int, NDArray[np.intp]]:
        """The training rows of every leaf: those of a shared node are the same in all trees."""
        if self._leaf_rows or self.dataset is None:
            return self._leaf_rows
        inputs = dataset_inputs(self.head.fields, self.dataset).columns
        everything = np.arange(self.dataset.rows)
        seen: set[int] = set()
        todo: list[tuple[int, NDArray[np.intp]]] = []
        for test, yes, no in {tuple(map(int, root)) for root in zip(*self.roots, strict=True)}:
            if test >= 0 and not (yes in seen and no in seen):
                answered = answers(self.tests[test], inputs[self.tests[test].column])
                todo += [(yes, everything[answered]), (no, everything[~answered])]
            while todo:
                node, rows = todo.pop()
                if node in seen:
                    continue
                seen.add(node)
                asked = int(self.shared.test[node])
                if asked < 0:
                    self._leaf_rows[node] = rows
                    continue
                answered = answers(self.tests[asked], inputs[self.tests[asked].column], rows)
                sides = int(self.shared.yes[node]), int(self.shared.no[node])
                todo += [(sides[0], rows[answered]), (sides[1], rows[~answered])]
        return self._leaf_rows


def read_set(path: Path, data: Any, y: Any) -> tuple[StoredTrees, Listed, Measures]:
    """The set in a file, with the rows that its measures need, if they are given."""
    try:
        content = _read_parquet(path) if path.suffix == ".parquet" else plain_json(read_text(path))
    except OSError as error:
        _refuse(path, f"it cannot be read: {error.strerror or error}")
    except ValueError as error:
        _refuse(path, f"it is not such a file: {error}")
    if not isinstance(content, dict) or content.get("treeml_trees") != VERSION:
        _refuse(path, "it does not say that it is a set of trees in version 1")
    try:
        source, listed = _source(content), _listed(content["listed"])
        model = Statements.parse(content["spec"], params=content["params"])
        if any(isinstance(statement, Include) for statement in model.statements):
            raise ValueError("its specification includes another file")
        measures = Measures(model, bool(content["has_target"]))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        _refuse(path, f"a part is missing or wrong: {error}")
    if data is not None:
        source.dataset, _ = prepare(model, data, y, keep_table=True)
        _same_rows(source, path)
    return source, listed, measures


def _refuse(path: Path, why: str) -> NoReturn:
    raise DataError(Diagnostic("D480", f"{path} holds no set of trees", notes=(why,), place=str(path)))


def _read_parquet(path: Path) -> Any:
    import polars as pl  # imported here: start-up time

    from treeml.data.parquet import read_parquet

    packed = read_plain(path, MOST_DECODED)
    try:
        frame = read_parquet(path.name, packed, None, ReadingLimits(memory=MOST_DECODED))
        content = plain_json(frame["about"][0])
        for name, part in (("nodes", frame.filter(~pl.col("is_tree"))), ("trees", frame.filter(pl.col("is_tree")))):
            content[name] = {column: _whole_numbers(part[column]) for column in ("test", "yes", "no")}
    except (pl.exceptions.PolarsError, KeyError, TypeError, IndexError) as error:
        raise ValueError(str(error)) from error
    return content


def _whole_numbers(column: pl.Series) -> Whole:
    if not column.dtype.is_integer() or column.null_count():
        raise ValueError(f"{column.name} does not hold a whole number in every row")
    return column.to_numpy().astype(np.int64)


def _source(content: Mapping[str, Any]) -> StoredTrees:
    head = Tree.from_json(content["head"])
    first = content["head"]["root"]

    def branch(test: Any) -> TreeTest:
        read = Tree.from_json({**content["head"], "root": {"test": test, "yes": first, "no": first}}).root
        assert isinstance(read, Branch)
        return read.test

    records = [Tree.from_json({**content["head"], "root": leaf}).leaves[0] for leaf in content["leaves"]]
    tests = [branch(test) for test in content["tests"]]
    nodes, roots = (_arrays(content[name]) for name in ("nodes", "trees"))
    _check_nodes(nodes, len(tests), len(records))
    _check_roots(roots, len(nodes[0]), len(tests), len(records))
    labels = {label: number for number, label in enumerate(head.classes)}
    of_record = np.array([labels.get(leaf.prediction, -1) for leaf in records] or [-1], dtype=np.int32)
    test, yes, no = nodes
    record = np.where(test < 0, yes, -1)
    shared_yes = np.where(test < 0, of_record[np.where(test < 0, yes, 0)], yes)
    whole = test.astype(np.int32), shared_yes.astype(np.int32), no.astype(np.int32)
    shared = SharedNodes(*whole, np.zeros(len(test), np.int32))
    lone = roots[0] < 0
    root_yes = np.where(lone, of_record[np.where(lone, roots[1], 0)], roots[1])
    made = tuple(part.astype(np.int32) for part in (roots[0], root_yes, roots[2]))
    counts = [int(number) for _, number in content["values"]]
    if min(counts, default=0) < 0 or sum(counts) != len(roots[0]):
        raise ValueError("there are not as many values as trees")
    values = [value for text, number in content["values"] for value in [_exact(text)] * int(number)]
    return StoredTrees(head, tests, records, shared, record, (made[0], made[1], made[2]), values)


def _arrays(part: Mapping[str, Any]) -> tuple[Whole, Whole, Whole]:
    test, yes, no = (np.array(part[name], dtype=np.int64) for name in ("test", "yes", "no"))
    if not len(test) == len(yes) == len(no) or test.ndim != 1:
        raise ValueError("nodes are three lists of one length")
    return test, yes, no


def _check_nodes(nodes: tuple[Whole, Whole, Whole], tests: int, records: int) -> None:
    """Sides come before their split, so that no tree is endless; and no tree is deeper than one can be."""
    test, yes, no = nodes
    inner, own = test >= 0, np.arange(len(test))
    ok = (test >= -1).all() and (test < tests).all()
    ok = ok and ((yes >= 0) & (no >= 0) & (yes < own) & (no < own))[inner].all()
    if not ok or not ((yes >= 0) & (yes < records))[~inner].all():
        raise ValueError("a node points nowhere")
    depth = np.zeros(len(test), dtype=np.int64)
    for node in np.flatnonzero(inner).tolist():
        depth[node] = 1 + max(depth[yes[node]], depth[no[node]])
    if int(depth.max(initial=0)) > DEEPEST:
        raise ValueError("a tree is too deep")


def _check_roots(roots: tuple[Whole, Whole, Whole], nodes: int, tests: int, records: int) -> None:
    test, yes, no = roots
    inner = test >= 0
    ok = (test >= -1).all() and (test < tests).all()
    ok = ok and ((yes >= 0) & (no >= 0) & (yes < nodes) & (no < nodes))[inner].all()
    if not ok or not ((yes >= 0) & (yes < records))[~inner].all():
        raise ValueError("a tree points nowhere")


def _exact(text: str) -> Fraction:
    value = exact_number(text)
    if value is None:
        raise ValueError(f"{text!r} is not a number")
    return Fraction(value)


def _listed(content: Mapping[str, Any]) -> Listed:
    ends = {name: None if content[name] is None else _exact(content[name]) for name in ("best", "limit")}
    return Listed(
        goal=str(content["goal"]),
        sense=str(content["sense"]),
        stop=str(content["stop"]),
        statement=str(content["statement"]),
        style=str(content["style"]),
        best=ends["best"],
        limit=ends["limit"],
        total=int(content["total"]),
        written=int(content.get("written", content["total"])),  # files of earlier versions do not have it
        merged=bool(content.get("merged", False)),
        complete=bool(content["complete"]),
        seconds=float(content["seconds"]),
        notes=tuple(map(str, content["notes"])),
        evidence=(Evidence("enumeration", "every tree up to the limit was counted"),),
    )


def _same_rows(source: StoredTrees, path: Path) -> None:
    """The rows must be those that the trees were found for: every leaf holds what follows from its rows."""
    dataset = _dataset(source)
    ends = [(int(source.record[leaf]), rows) for leaf, rows in source._rows_of_leaves().items()]
    if (source.roots[0] < 0).any():
        ends.append((len(source.records) - 1, np.arange(dataset.rows)))
    for number, rows in ends:
        record = source.records[number]
        label = source.head.classes.index(record.prediction) if source.head.classes else -1
        if label >= len(dataset.classes) or leaf_record(dataset, label, rows) != record:
            _refuse(path, "its trees were found for other rows; trees.unseen(data) measures them on these")
