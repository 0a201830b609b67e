"""A data file and a certificate -> verified, rejected or unsupported, and a sentence that says why.

    python checker.py data.csv proof.cert.gz

This is the readable reference; `checker.c` is the fast twin and must give the same verdict. It imports nothing but
numpy and the standard library. It reads the rows itself and proves the statement on the rows it read. The format, the
rules and why they are sound: docs/certificates.md. Exit codes: 0 verified, 1 rejected, 2 unsupported.
"""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

LIMIT = 2**53  # every sum stays below it, so that float64 products are exact
MOST_LEAVES, MOST_DEPTH, MOST_CELLS = 62, 60, 2**28
TEXT = rb'"(?:[^"\\\x00-\x1f]|\\["\\])*"'
LINE = re.compile(rb" *(?:(?:" + TEXT + rb'|[^"\x00-\x20]+)(?: +|$))+')
TOKEN = re.compile(TEXT + rb'|[^"\x00-\x20]+')
DECIMAL = re.compile(rb"[+-]?(\d{1,18})(?:\.(\d{1,18}))?")
NUMBER = re.compile(rb"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?")


class Rejected(Exception):
    """The certificate does not prove its statement."""


class Unsupported(Exception):
    """The checker does not know the form of the data or the certificate, or its numbers are too large."""


def need(condition: Any, why: str) -> None:
    if not condition:
        raise Unsupported(why)


def prove(condition: Any, why: str) -> None:
    if not condition:
        raise Rejected(why)


def whole(token: bytes, least: int = -LIMIT, most: int = LIMIT) -> int:
    need(re.fullmatch(rb"-?\d{1,16}", token) and least <= int(token) <= most, "a whole number is not, or is out of range")
    return int(token)


def word(token: bytes) -> bytes:
    need(token.startswith(b'"'), "a text in quotes is missing")
    return re.sub(rb"\\(.)", rb"\1", token[1:-1])


def number(token: bytes) -> float:
    need(NUMBER.fullmatch(token) and np.isfinite(float(token)), "a value in a column of numbers, or a cut, is not a number")
    return float(token)


def scaled(cell: bytes, scale: int) -> int:
    """A decimal times the scale, which must be whole."""
    match = DECIMAL.fullmatch(cell)
    need(match and len(match[1] + (match[2] or b"")) <= 18, "a weight or target is not a decimal of at most 18 digits")
    assert match is not None
    after = match[2] or b""
    value, rest = divmod(int(match[1] + after) * scale, 10 ** len(after))
    need(not rest and value <= LIMIT, "a weight or target times its scale is not a whole number that is small enough")
    return -value if cell.startswith(b"-") else value


def bounded(total: int) -> int:
    need(total < LIMIT, "costs are too large: their sum reaches 2^53")
    return total


# The header: lines in a fixed order, each a key and what it needs.


@dataclass
class Amount:
    """A sum over rows and leaves: price per leaf, and costs of predicted classes for rows that match conditions."""

    price: int = 0
    weight: tuple[bytes, int] | None = None
    costs: list[tuple[list[int], list[tuple[bytes, list[bytes]]]]] = field(default_factory=list)
    matrix: Any = None  # rows x classes; of a squared loss the weights


@dataclass
class Header:
    separator: bytes
    rows: int
    target: bytes  # the column that is predicted
    classes: list[list[bytes]]
    scale: int  # of the target of a squared loss
    depth: int
    leaves: int  # 0: not limited
    support: int
    missing: list[bytes]
    tests: list[tuple[bytes, bytes, list[bytes], bool]]  # column, kind, words or cuts, is missing on the yes side?
    goals: list[Amount]
    require: list[Amount]  # none or one
    limit: int
    multiplier: int
    divisor: int
    claim: bytes
    bound: int
    tree: list[int]  # in prefix order: a test, or -1 - class
    values: list[int]


class Lines:
    """The lines of the header; `take` gives the tokens after the key if the next line has this key."""

    def __init__(self, lines: list[bytes]) -> None:
        self.lines, self.at = lines, 0

    def take(self, key: bytes, least: int = 0, most: int = 2**31) -> list[bytes] | None:
        need(self.at < len(self.lines), "the header ends too early")
        line = self.lines[self.at]
        need(LINE.fullmatch(line), "a line of the certificate cannot be read")
        tokens = TOKEN.findall(line)
        if tokens[0] != key:
            return None
        self.at += 1
        need(least < len(tokens) <= most + 1, "a line of the header is too short or too long")
        return tokens[1:]

    def must(self, key: bytes, least: int = 1, most: int = 1) -> list[bytes]:
        tokens = self.take(key, least, most)
        need(tokens is not None, f"the line `{key.decode()}` is missing")
        return tokens or []

    def all(self, key: bytes, least: int) -> Iterator[list[bytes]]:
        while (tokens := self.take(key, least)) is not None:
            yield tokens


def read_header(lines: Lines) -> Header:
    need(lines.must(b"treeml", 2, 2) == [b"certificate", b"1"], "this is not a certificate of version 1")
    separator = word(lines.must(b"separator")[0])
    need(separator in (b",", b";", b"|"), "the separator is not supported")
    rows = whole(lines.must(b"rows")[0], 1, 2**31 - 1)
    squared = lines.take(b"squared", 2, 2)
    target = word(squared[0] if squared else lines.must(b"target")[0])
    classes = [] if squared else [[word(x) for x in tokens] for tokens in lines.all(b"class", 1)]
    need(squared or 1 <= len(classes) <= 64, "there are no classes, or more than 64")
    scale = whole(squared[1], 0) if squared else 0
    depth = whole(lines.must(b"depth")[0], 0, MOST_DEPTH)
    leaves = whole((lines.take(b"leaves", 1, 1) or [b"0"])[0], 0, MOST_LEAVES)
    support = whole((lines.take(b"support", 1, 1) or [b"1"])[0], 1, 2**31 - 1)
    missing = [word(x) for x in lines.take(b"missing", 1) or []]
    tests = [read_test(tokens) for tokens in lines.all(b"test", 2)]
    need(tests, "there are no tests")
    goals = [read_amount(lines, tokens, len(classes)) for tokens in lines.all(b"goal", 0)]
    required = lines.take(b"require", 1)
    require = [read_amount(lines, required[1:], len(classes))] if required else []
    by = lines.take(b"multiplier", 2, 2) or [b"0", b"1"]
    claim = lines.must(b"claim", 1, 2)
    need(claim[0] in (b"optimal", b"bound", b"infeasible"), "the claim is not understood")
    need(len(claim) == 1 + (claim[0] == b"bound"), "the claim is not understood")
    tree = [whole(x) for x in lines.take(b"tree", 1) or []]
    values = [whole(x) for x in lines.take(b"value", 1, 8) or []]
    header = Header(separator, rows, target, classes, scale, depth, leaves, support, missing, tests, goals, require,
                    whole(required[0]) if required else 0, whole(by[0], 0, 2**31), whole(by[1], 1, 2**31), claim[0],
                    whole(claim[1]) if len(claim) > 1 else 0, tree, values)  # fmt: skip
    check_form(header)
    return header


def check_form(h: Header) -> None:
    if h.claim == b"infeasible":
        need(h.require and not (h.goals or h.multiplier or h.tree or h.values or not h.classes) and h.divisor == 1,
             "a certificate that nothing is feasible has classes, one requirement and no goal or tree")  # fmt: skip
        return
    need(1 <= len(h.goals) <= 8 and (h.require or not h.multiplier), "there is no goal, or more than 8")
    need(h.claim == b"optimal" or len(h.goals) == 1, "a bound is about one goal")
    squared = h.claim == b"bound" and not h.require and not h.goals[0].costs
    need(h.classes or squared, "a squared loss is one goal without requirement, and the claim is a bound")


def read_test(t: list[bytes]) -> tuple[bytes, bytes, list[bytes], bool]:
    column, kind, rest = word(t[0]), t[1], t[2:]
    missing_yes = kind != b"words" and rest[-1:] == [b"missing"]
    rest = rest[:-1] if missing_yes else rest
    need(kind in (b"words", b"cuts", b"every") and bool(rest) == (kind != b"every"), "a test is not understood")
    if kind == b"words":
        rest = [word(x) for x in rest]
    cuts = [number(x) for x in rest] if kind == b"cuts" else []
    need(all(a < b for a, b in zip(cuts, cuts[1:], strict=False)), "cuts are not in rising order")
    return column, kind, rest, missing_yes


def read_amount(lines: Lines, t: list[bytes], classes: int) -> Amount:
    amount = Amount()
    if t[:1] == [b"price"] and len(t) > 1:
        amount.price, t = whole(t[1], 0), t[2:]
    if t[:1] == [b"weight"] and len(t) > 2:
        amount.weight, t = (word(t[1]), whole(t[2], 0)), t[3:]
    need(not t, "a goal or requirement is not understood")
    for tokens in lines.all(b"cost", 1):
        need(len(tokens) >= classes, "a line `cost` does not give one cost for every class")
        costs, rest = [whole(x) for x in tokens[:classes]], tokens[classes:]
        conditions = []
        while rest:  # when "column" "word" ..., and again for every condition
            end = rest.index(b"when", 1) if b"when" in rest[1:] else len(rest)
            need(rest[0] == b"when" and end > 2, "a condition of a line `cost` is not understood")
            conditions.append((word(rest[1]), [word(x) for x in rest[2:end]]))
            rest = rest[end:]
        amount.costs.append((costs, conditions))
    return amount


# The data.


def read_data(content: bytes, h: Header) -> dict[bytes, list[bytes]]:
    """Columns by name, each a list of cells, for the columns that the header names."""
    need(b"\0" not in content and not content.startswith(b"\xef\xbb\xbf"), "the data hold NUL or a byte order mark")
    lines = content.split(b"\n")
    while lines and lines[-1] in (b"", b"\r"):
        lines.pop()
    need(lines, "the data are empty")
    rows = [cells(line, h.separator) for line in lines]
    need(all(len(row) == len(rows[0]) for row in rows), "the lines of the data do not have equally many values")
    prove(len(rows) - 1 == h.rows, f"the data have {len(rows) - 1} rows, and the certificate is about {h.rows}")
    used = {h.target, *(test[0] for test in h.tests)}
    for amount in h.goals + h.require:
        used |= {column for _, conditions in amount.costs for column, _ in conditions}
        used |= {amount.weight[0]} if amount.weight else set()
    need(all(rows[0].count(name) == 1 for name in used), "the data do not have exactly one column of a name")
    return {name: [row[rows[0].index(name)] for row in rows[1:]] for name in used}


def cells(line: bytes, separator: bytes) -> list[bytes]:
    """The values of a line; quotes stand around whole values, and a quote inside is doubled."""
    line = line[:-1] if line.endswith(b"\r") else line
    need(b"\r" not in line, "the data hold a carriage return inside a line")
    found, at = [], 0
    cell = re.compile(rb'"((?:[^"]|"")*)"|([^"' + re.escape(separator) + rb"]*)")
    while True:
        match = cell.match(line, at)
        need(match, "a quote in the data is not closed in its line")
        assert match is not None
        found.append((match[2] if match[1] is None else match[1].replace(b'""', b'"')).strip(b" \t"))
        at = match.end()
        if at == len(line):
            return found
        need(line[at : at + 1] == separator, "a quote in the data stands inside a value")
        at += 1


# The problem on merged rows.


@dataclass
class Problem:
    """A test t of family f sends rows with rank[f] <= t - first[f] to its yes side; cuts of a column are a family."""

    h: Header
    all_rank: Any  # families x rows of the data
    first: Any  # the first test of every family, and the number of tests at the end
    price: int
    factors: list[int]  # of the goals
    all_vector: Any  # rows of the data x classes: the costs; for squares weight, sum and sum of squares
    rank: Any = None  # the same for merged rows
    vector: Any = None
    loss: Any = None  # the most that a row can cost
    count: Any = None  # how many lines of the data it stands for
    base: int = 0
    matrix: Any = None  # rows x tests that differ, if every family is one test

    def leaf(self, sums: Any) -> Any:
        """The cost of leaves with these sums, in whole numbers; squares are rounded down."""
        if self.h.classes:
            return sums.min(axis=-1) + self.price
        weight, total, square = (sums[..., i].astype(np.int64) for i in range(3))
        return square - -(-total * total // np.maximum(weight, 1)) + self.price

    def yes(self, test: int, rank: Any = None) -> Any:
        family = int(np.searchsorted(self.first, test, side="right")) - 1
        return (self.rank if rank is None else rank)[family] <= test - self.first[family]


def bind(h: Header, table: dict[bytes, list[bytes]]) -> Problem:
    need(h.rows * len(h.tests) <= MOST_CELLS, "too many rows and tests")
    ranks = [ranked(table[column], kind, rest, yes, h.missing) for column, kind, rest, yes in h.tests]
    first = np.cumsum([0] + [size for _, size in ranks])
    for cell in set(table[h.target]) if h.classes else ():
        need(sum(cell in words for words in h.classes) == 1, "a value of the target is not of exactly one class")
    for amount in h.goals + h.require:
        amount.matrix = cost_matrix(h, table, amount)
    rank = np.array([places for places, _ in ranks], dtype=np.int64)
    problem = Problem(h, rank, first, *(combined(h) if h.classes else squares(h, table)))
    merge(problem)
    if (np.diff(first) == 1).all():
        same = np.where(problem.rank[:, :1] == 1, 1 - problem.rank, problem.rank)
        problem.matrix = (np.unique(same, axis=0) <= 0).T.astype(np.float64)
    return problem


def ranked(column: list[bytes], kind: bytes, rest: list[bytes], missing_yes: bool, missing: list[bytes]) -> Any:
    """For every row the number of cuts below its value, and the number of cuts."""
    if kind == b"words":
        words = set(rest)
        return [0 if cell in words else 1 for cell in column], 1
    value = {cell: number(cell) for cell in set(column) - set(missing)}
    cuts = sorted(set(value.values()))[:-1] if kind == b"every" else [number(x) for x in rest]
    place = {cell: bisect_left(cuts, x) for cell, x in value.items()}
    return [place.get(cell, 0 if missing_yes else len(cuts)) for cell in column], len(cuts)


def cost_matrix(h: Header, table: dict[bytes, list[bytes]], amount: Amount) -> Any:
    """rows x classes of Python's whole numbers; for a squared loss rows x 1, the weights."""
    weights = np.ones(h.rows, dtype=object)
    if amount.weight is not None:
        weights[:] = [scaled(cell, amount.weight[1]) for cell in table[amount.weight[0]]]
    matrix = np.zeros((h.rows, len(h.classes)), dtype=object) if h.classes else np.ones((h.rows, 1), dtype=object)
    for costs, conditions in amount.costs:
        holds = np.ones(h.rows, dtype=bool)
        for column, words in conditions:
            holds &= np.array([cell in words for cell in table[column]])
        matrix[holds] += np.array(costs, dtype=object)
    bounded(int(abs(matrix).max()))
    matrix = matrix * weights[:, None]
    bounded(int(abs(matrix).max(axis=1).sum()) + amount.price * h.rows)
    return matrix


def combined(h: Header) -> tuple[int, list[int], Any]:
    """Price, factors, and one vector of costs per row. A goal outweighs all later ones: its factor is that of the next
    one times one more than the range of the next one."""
    amounts, by = h.goals + h.require, [1] * len(h.goals)
    for i in range(len(by) - 1, 0, -1):
        spread = int((amounts[i].matrix.max(axis=1) - amounts[i].matrix.min(axis=1)).sum())
        by[i - 1] = bounded(by[i] * (spread + amounts[i].price * (h.rows - 1) + 1))
    each = [bounded(f * h.divisor) for f in by] + [h.multiplier if h.goals else 1] * len(h.require)
    price = sum(f * amount.price for f, amount in zip(each, amounts, strict=True))
    total = sum(f * amount.matrix for f, amount in zip(each, amounts, strict=True))
    bounded(int(abs(total).max(axis=1).sum()) + price * h.rows)
    return price, by, total.astype(np.int64)


def squares(h: Header, table: dict[bytes, list[bytes]]) -> tuple[int, list[int], Any]:
    targets = [scaled(cell, h.scale) for cell in table[h.target]]
    shifted = np.array([x - sum(targets) // h.rows for x in targets], dtype=object)  # no constant changes the loss
    weight = h.goals[0].matrix[:, 0]
    need(min(weight) >= 0 and sum(weight * abs(shifted)) < 2**31, "squares are too large, or a weight is negative")
    bounded(sum(weight * shifted * shifted) + h.goals[0].price * h.rows)
    vector = np.stack([weight, weight * shifted, weight * shifted * shifted], axis=1).astype(np.int64)
    return h.goals[0].price, [1], vector


def merge(p: Problem) -> None:
    """Rule NORMALIZE: equal rows become one; what its cheapest class costs is unavoidable and goes to the base."""
    order = np.lexsort(p.all_rank)
    changes = (p.all_rank[:, order[1:]] != p.all_rank[:, order[:-1]]).any(axis=0)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    p.rank, p.count = p.all_rank[:, order[starts]], np.diff(np.append(starts, len(order)))
    p.vector = np.add.reduceat(p.all_vector[order], starts, axis=0)
    p.loss = np.zeros(len(starts), dtype=np.int64)
    if p.h.classes:
        least = p.vector.min(axis=1)
        p.base, p.vector = int(least.sum()), p.vector - least[:, None]
        p.loss = p.vector.max(axis=1)
        if p.h.support == 1:  # rows that cost nothing anywhere do not change a bound
            kept = p.loss > 0
            p.rank, p.vector, p.loss, p.count = p.rank[:, kept], p.vector[kept], p.loss[kept], p.count[kept]


# Rule DEPTH2: the exact best of depth at most two.


def best(p: Problem, rows: Any, depth: int, leaves: int, cap: int) -> int:
    """The least cost on these rows of a tree of depth <= 2, or a number from `cap` on if that costs more."""
    index = np.flatnonzero(rows)
    leaf = int(p.leaf(p.vector[index].sum(axis=0)))
    if p.count[index].sum() < p.h.support and p.h.support > 1:
        return LIMIT
    if depth == 0 or leaves == 1 or not len(index):
        return leaf
    if p.matrix is not None:
        return min(leaf, pairs(p, index, depth, leaves))
    if depth == 1:
        return min(stumps(p, index))
    least = min(leaf, cap)
    for family in range(len(p.rank)):
        least = one_family(p, index, family, leaves, least)
    return least


def pairs(p: Problem, index: Any, depth: int, leaves: int) -> int:
    """The best of two to four leaves, from the sums of all pairs of tests."""
    x = p.matrix[index]
    support = p.h.support
    columns = [p.vector[index, c] for c in range(p.vector.shape[1])]
    if support > 1:
        columns.append(p.count[index])
    both = np.stack([x.T @ (x * column[:, None]) for column in columns], axis=-1)
    one = np.stack([column @ x for column in columns], axis=-1)
    everything = np.array([column.sum() for column in columns], dtype=np.float64)
    cell = p.leaf if support == 1 else lambda sums: supported(p, sums)
    yes, no = cell(one), cell(everything - one)
    if depth == 1 or leaves == 2:
        return int((yes + no).min())
    first, second = one[:, None, :], one[None, :, :]
    yes_split = (cell(both) + cell(first - both)).min(axis=1)
    no_split = (cell(second - both) + cell(everything - first - second + both)).min(axis=1)
    if leaves == 3:
        return int(min((yes + no).min(), (yes_split + no).min(), (yes + no_split).min()))
    return int((np.minimum(yes, yes_split) + np.minimum(no, no_split)).min())


def supported(p: Problem, sums: Any) -> Any:
    """The cost of leaves, above every other cost where too few rows are."""
    return np.where(sums[..., -1] < p.h.support, LIMIT, p.leaf(sums[..., :-1]))


def stumps(p: Problem, index: Any) -> tuple[int, int]:
    """The cost of a leaf, and the least cost of two leaves."""
    vector, count = p.vector[index], p.count[index]
    everything = vector.sum(axis=0)
    least = LIMIT
    for family in range(len(p.rank)):
        places, size = p.rank[family][index], p.first[family + 1] - p.first[family]
        if not size or not len(index):
            continue
        sums = np.stack([np.bincount(places, vector[:, c], size + 1) for c in range(vector.shape[1])], axis=-1)
        left = np.cumsum(sums, axis=0)[:size].astype(np.int64)
        cost = p.leaf(left) + p.leaf(everything - left)
        if p.h.support > 1:
            rows = np.cumsum(np.bincount(places, count, size + 1))[:size]
            cost = np.where(np.minimum(rows, count.sum() - rows) < p.h.support, LIMIT, cost)
        least = min(least, int(cost.min()))
    return int(p.leaf(everything)), least


def one_family(p: Problem, index: Any, family: int, leaves: int, least: int) -> int:
    """The best tree of depth two with a test of this family at the root, if it costs less than `least`.

    A value v at one cut is a bound of v minus the cost of the rows in between for every later cut: the no side loses
    these rows and the yes side only gains. So cuts are skipped that cannot be better than the best so far.
    """
    places = p.rank[family][index]
    cuts = np.unique(places)[:-1]
    cuts = cuts[(cuts < p.first[family + 1] - p.first[family])]
    until = [int(p.loss[index[places <= cut]].sum()) for cut in cuts]
    at = 0
    while at < len(cuts):
        value = LIMIT
        yes, no = index[places <= cuts[at]], index[places > cuts[at]]
        if min(p.count[yes].sum(), p.count[no].sum()) >= p.h.support:
            (one, two), (other_one, other_two) = stumps(p, yes), stumps(p, no)
            value = one + other_one
            if leaves > 2:
                value = min(value, two + other_one, one + other_two)
            if leaves > 3:
                value = min(value, two + other_two)
            least = min(least, value)
        after = at + 1
        while p.h.support == 1 and p.h.classes and after < len(cuts):
            if value - (until[after] - until[at]) < least:
                break
            after += 1
        at = after
    return least


# The claims.


@dataclass
class Claim:
    depth: int
    leaves: int
    bound: int
    literals: tuple[int, ...]


def rows_of(p: Problem, literals: tuple[int, ...]) -> Any:
    rows = np.ones(len(p.loss), dtype=bool)
    for literal in literals:
        rows &= p.yes(literal // 2) == bool(literal % 2)
    return rows


def check_claims(p: Problem, lines: list[bytes], number_of_claims: int) -> Claim:
    """Every claim follows from the rows and from earlier claims; the last one is returned."""
    claims: list[Claim] = []
    if len(lines) < number_of_claims + 1 or lines[number_of_claims] != b"end" or any(lines[number_of_claims + 1 :]):
        raise Rejected("the file does not end after the number of claims that it states")
    for at, line in enumerate(lines[:number_of_claims]):
        if not re.fullmatch(rb"\d{1,16}(?: \d{1,16})*", line):
            raise Unsupported(f"claim {at} is not a line of whole numbers")
        numbers = [int(x) for x in line.split(b" ")]
        try:
            claim, entries = read_claim(p, numbers)
            check_claim(p, claims, claim, entries)
        except Rejected as fault:
            raise Rejected(f"claim {at}: {fault}") from None
        claims.append(claim)
    if not claims:
        raise Rejected("there is no claim")
    return claims[-1]


def read_claim(p: Problem, numbers: list[int]) -> tuple[Claim, list[list[int]]]:
    limited = p.h.leaves > 0
    start = 4 if limited else 3
    if len(numbers) < start:
        raise Rejected("the line is too short")
    depth, leaves = numbers[0], numbers[1] if limited else MOST_LEAVES
    bound, length = numbers[start - 2], numbers[start - 1]
    end = start + length
    width = 6 if limited else 4
    if depth > 60 or not 1 <= leaves <= MOST_LEAVES or bound >= LIMIT or length > 60 or end >= len(numbers):
        raise Rejected("a number of the line is out of range")
    if len(numbers) != end + 1 + width * numbers[end] or any(x >= 2 * p.first[-1] for x in numbers[start:end]):
        raise Rejected("the line has the wrong length, or a test does not exist")
    entries = [numbers[i : i + width] for i in range(end + 1, len(numbers), width)]
    return Claim(depth, leaves, bound, tuple(numbers[start:end])), entries


def check_claim(p: Problem, claims: list[Claim], claim: Claim, entries: list[list[int]]) -> None:
    rows = rows_of(p, claim.literals)
    if claim.depth <= 2:
        is_right = not entries and best(p, rows, claim.depth, claim.leaves, claim.bound) >= claim.bound
        prove(is_right, "the best tree of this depth costs less than the bound")
        return
    prove(int(p.leaf(p.vector[rows].sum(axis=0))) >= claim.bound, "a single leaf costs less than the bound")
    limited = p.h.leaves > 0
    wanted = (1 << claim.leaves) - 2 if limited else 1  # bit l: the yes side has l leaves
    covered: dict[int, int] = {}
    for entry in entries:
        low, high = entry[:2]
        fewest, most = entry[2:4] if limited else (1, 1)
        if not low <= high < p.first[-1] or not 1 <= fewest <= most < max(2, claim.leaves):
            raise Rejected("an entry names tests or leaves that do not exist")
        allowed = (most, claim.leaves - fewest) if limited else (MOST_LEAVES, MOST_LEAVES)
        check_entry(p, claims, claim, rows, entry, allowed)
        for test in range(low, high + 1):
            covered[test] = covered.get(test, 0) | ((2 << most) - (1 << fewest) if limited else 1)
    check_cover(p, rows, {test for test, leaves in covered.items() if leaves & wanted == wanted}, wanted)


def check_entry(p: Problem, claims: list[Claim], claim: Claim, rows: Any, entry: list[int], allowed: Any) -> None:
    """Rule SPLIT for a range of tests: for the part in one family, the yes side of its first and the no side of its last
    test, because all yes sides in between contain the former and all no sides contain the latter."""
    low, high, sides = entry[0], entry[1], entry[-2:]
    while low <= high:
        family = int(np.searchsorted(p.first, low, side="right")) - 1
        last = min(high, p.first[family + 1] - 1)
        if low < last and p.h.support > 1:
            raise Rejected("with a least number of rows per leaf, an entry covers one cut of a column only")
        have = evidence(p, claims, claim, rows & p.yes(low), sides[0], allowed[0], claim.bound)
        if have < claim.bound:
            have += evidence(p, claims, claim, rows & ~p.yes(last), sides[1], allowed[1], claim.bound - have)
        if have < claim.bound:
            raise Rejected(f"the two sides of the tests {low} to {last} do not add up to the bound")
        low = last + 1


def evidence(p: Problem, claims: list[Claim], claim: Claim, rows: Any, code: int, leaves: int, cap: int) -> int:
    """A bound on these rows: 0 trivial, 1 recomputed, n: claim n - 2 by similarity."""
    if code == 0:
        return p.price
    if code == 1:
        if claim.depth > 3:
            raise Rejected("a side that is deeper than two cannot be recomputed")
        return best(p, rows, claim.depth - 1, leaves, cap)
    if code - 2 >= len(claims):
        raise Rejected("a reference does not point backwards")
    other = claims[code - 2]
    if other.depth < claim.depth - 1 or other.leaves < min(leaves, 2 ** (claim.depth - 1)):
        raise Rejected("a reference is about smaller trees")
    theirs = rows_of(p, other.literals)
    more, fewer = theirs & ~rows, rows & ~theirs
    if p.h.support > 1 and fewer.any():
        raise Rejected("with a least number of rows per leaf, a reference must be about a superset")
    if not p.h.classes and more.any():
        raise Rejected("with a squared loss, a reference must be about a subset")
    return max(p.price, other.bound - int(p.loss[more].sum()))


def check_cover(p: Problem, rows: Any, covered: set[int], wanted: int) -> None:
    """Every test is covered, or splits nothing, or splits these rows as a covered one does."""
    if not wanted or len(covered) == p.first[-1]:
        return
    index = np.flatnonzero(rows)
    known = {canonical(p.yes(test)[index]) for test in covered}
    for test in range(p.first[-1]):
        if test not in covered:
            yes = p.yes(test)[index]
            fewer = min(p.count[index][yes].sum(), p.count[index][~yes].sum())
            if fewer >= p.h.support and canonical(yes) not in known:
                raise Rejected(f"test {test} is not covered")


def canonical(yes: Any) -> bytes:
    """The same for a test and its complement."""
    return bytes(np.packbits(yes ^ yes[0] if len(yes) else yes))


# The statement.


def check_tree(p: Problem) -> list[int]:
    """The tree keeps the limits; returns its value of every goal and requirement."""
    h, at, leaves = p.h, 0, 0
    amounts = h.goals + h.require
    values = [0] * len(amounts)
    todo = [(np.ones(h.rows, dtype=bool), 0)]
    while todo:
        rows, depth = todo.pop()
        prove(at < len(h.tree) and -max(1, len(h.classes)) <= h.tree[at] < p.first[-1], "the tree cannot be read")
        node, at = h.tree[at], at + 1
        if node >= 0:
            prove(depth < h.depth, "the tree is too deep")
            yes = p.yes(node, p.all_rank)
            todo += [(rows & ~yes, depth + 1), (rows & yes, depth + 1)]
            continue
        leaves += 1
        prove(rows.sum() >= h.support, "a leaf of the tree has too few rows")
        for i, amount in enumerate(amounts):
            costs = int(amount.matrix[rows, -1 - node].sum()) + amount.price if h.classes else 0
            values[i] += costs if h.classes else int(p.leaf(p.all_vector[rows].sum(axis=0)))
    prove(at == len(h.tree), "the tree cannot be read")
    prove(not h.leaves or leaves <= h.leaves, "the tree has too many leaves")
    return values


def check(data: bytes, certificate: bytes) -> str:
    """What was verified, in a sentence; Rejected or Unsupported otherwise."""
    lines = Lines(certificate.split(b"\n"))
    h = read_header(lines)
    claims = whole(lines.must(b"claims")[0], 0)
    p = bind(h, read_data(data, h))
    root = check_claims(p, lines.lines[lines.at :], claims)
    prove(not root.literals and root.depth >= h.depth and root.leaves >= (h.leaves or MOST_LEAVES),
          "the last claim is not about all rows, or about smaller trees than the statement")  # fmt: skip
    proved = root.bound + p.base
    if h.claim == b"infeasible":
        prove(proved > h.limit, f"the claims prove at least {proved}, which the requirement allows")
        return f"no tree meets the requirement: every tree costs at least {proved}, and {h.limit} is allowed"
    values = check_tree(p) if h.tree else []
    prove(not values or not h.require or values.pop() <= h.limit, "the tree does not meet the requirement")
    prove(values == h.values and (values or h.claim == b"bound"), "the tree does not have the values that are stated")
    wanted = h.bound if h.claim == b"bound" else sum(f * v for f, v in zip(p.factors, values, strict=True))
    # A better tree would have a combined value of at most wanted - 1, because values are whole numbers.
    enough = proved > h.divisor * (wanted - 1) + h.multiplier * h.limit
    prove(enough, f"the claims prove at least {proved}, which is not enough for the statement")
    if h.claim == b"optimal":
        return f"the tree is optimal: its value is {' '.join(map(str, values))}, and no tree has a smaller one"
    return f"no tree has a value below {wanted}" + (f"; the tree has {values[0]}" if values else "")


def main(arguments: list[str]) -> int:
    try:
        need(len(arguments) == 2, "use: checker.py data.csv proof.cert.gz, or - for a certificate from standard input")
        data = Path(arguments[0]).read_bytes()
        certificate = sys.stdin.buffer.read() if arguments[1] == "-" else Path(arguments[1]).read_bytes()
        if certificate.startswith(b"\x1f\x8b"):
            certificate = gzip.decompress(certificate)
        print(f"verified: {check(data, certificate)}")
        return 0
    except Rejected as fault:
        print(f"rejected: {fault}")
        return 1
    except (Unsupported, OSError, EOFError, zlib.error) as fault:
        print(f"unsupported: {fault}")
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
