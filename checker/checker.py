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
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LIMIT = 2**53  # every sum stays below it, so that float64 products are exact
MOST_LEAVES = 62
DECIMAL = re.compile(rb"[+-]?(\d{1,30})(?:\.(\d{1,30}))?")
NUMBER = re.compile(rb"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?")
TOKEN = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\["\\])*"|[^\s"]+')
LINE = re.compile(rb'(?: *(?:"(?:[^"\\\x00-\x1f]|\\["\\])*"|[^\s"\x00-\x1f]+)(?= |$))* *')


class Rejected(Exception):
    """The certificate does not prove its statement."""


class Unsupported(Exception):
    """The checker does not know the data's or the certificate's form, or its numbers are too large."""


@dataclass
class Amount:
    """A sum over rows and leaves: price per leaf, and costs of predicted classes for rows that match conditions."""

    price: int = 0
    weight: tuple[bytes, int] | None = None
    costs: list[tuple[list[int], list[tuple[bytes, set[bytes]]]]] = field(default_factory=list)
    limit: int | None = None  # of a requirement


@dataclass
class Header:
    separator: bytes = b","
    rows: int = -1
    target: bytes = b""
    classes: list[set[bytes]] = field(default_factory=list)
    depth: int = -1
    leaves: int = 0  # 0: not limited
    support: int = 1
    missing: set[bytes] = field(default_factory=set)
    tests: list[tuple[bytes, bytes, list[bytes], bool]] = field(default_factory=list)  # column, kind, words, missing
    goals: list[Amount] = field(default_factory=list)
    squared: tuple[bytes, int] | None = None
    require: Amount | None = None
    multiplier: tuple[int, int] = (0, 1)
    tree: list[bytes] | None = None
    values: list[int] | None = None
    claim: bytes = b""
    bound: int = 0


def whole(token: bytes, most: int = LIMIT) -> int:
    if not re.fullmatch(rb"-?\d{1,16}", token) or abs(int(token)) > most:
        raise Unsupported(f"{token.decode(errors='replace')!r} is not a whole number that is small enough")
    return int(token)


def natural(token: bytes, most: int = LIMIT) -> int:
    if whole(token, most) < 0:
        raise Unsupported("a number that must not be negative is negative")
    return int(token)


def word(token: bytes) -> bytes:
    if not token.startswith(b'"') or len(token) < 2:
        raise Unsupported("a text in quotes is missing")
    return re.sub(rb"\\(.)", rb"\1", token[1:-1])


# The certificate.


def read_header(lines: list[bytes]) -> tuple[Header, int, int]:
    """The header, the number of claims, and the line at which they begin."""
    if not lines or lines[0] != b"treeml certificate 1":
        raise Unsupported("the first line is not `treeml certificate 1`")
    header, seen = Header(), set()
    for at, line in enumerate(lines[1:], 1):
        if not LINE.fullmatch(line):
            raise Unsupported(f"line {at + 1} of the certificate cannot be read")
        tokens = TOKEN.findall(line)
        if not tokens:
            raise Unsupported(f"line {at + 1} of the certificate is empty")
        key = tokens[0]
        if key == b"claims":
            if len(tokens) != 2:
                raise Unsupported("the line `claims` is not understood")
            return header, natural(tokens[1]), at + 1
        if key in seen and key not in (b"class", b"test", b"goal", b"cost"):
            raise Unsupported(f"the line `{key.decode(errors='replace')}` stands twice")
        seen.add(key)
        read_line(header, key, tokens[1:])
    raise Unsupported("the line `claims` is missing")


def read_line(h: Header, key: bytes, t: list[bytes]) -> None:
    if key == b"separator" and len(t) == 1 and word(t[0]) in (b",", b";", b"\t", b"|"):
        h.separator = word(t[0])
    elif key == b"rows" and len(t) == 1:
        h.rows = natural(t[0], 2**31 - 1)
    elif key == b"target" and len(t) == 1:
        h.target = word(t[0])
    elif key == b"class" and t and len(h.classes) < 64:
        h.classes.append({word(x) for x in t})
    elif key in (b"depth", b"support", b"leaves") and len(t) == 1:
        most = {b"depth": 60, b"support": 2**31 - 1, b"leaves": MOST_LEAVES}[key]
        if key != b"depth" and natural(t[0], most) < 1:
            raise Unsupported("a limit of a tree is not positive")
        setattr(h, key.decode(), natural(t[0], most))
    elif key == b"missing" and t:
        h.missing = {word(x) for x in t}
    elif key == b"test" and len(t) >= 2:
        read_test(h, t)
    elif key == b"goal":
        h.goals.append(read_amount(t))
        if len(h.goals) > 8 or h.require is not None:
            raise Unsupported("goals come before the requirement, and at most 8 of them")
    elif key == b"squared" and len(t) == 2:
        h.squared = word(t[0]), natural(t[1])
    elif key == b"require" and t:
        h.require = read_amount(t[1:])
        h.require.limit = whole(t[0])
    elif key == b"cost" and t:
        read_cost(h, t)
    elif key == b"multiplier" and len(t) == 2:
        h.multiplier = natural(t[0], 2**31), natural(t[1], 2**31)
    elif key == b"tree" and t:
        h.tree = t
    elif key == b"value" and t:
        h.values = [whole(x) for x in t]
    elif key == b"claim" and t and (t[0] in (b"optimal", b"infeasible") and len(t) == 1 or t[0] == b"bound"):
        h.claim = t[0]
        if t[0] == b"bound":
            if len(t) != 2:
                raise Unsupported("the line `claim` is not understood")
            h.bound = whole(t[1])
    else:
        raise Unsupported(f"the line `{key.decode(errors='replace')}` is not understood")


def read_test(h: Header, t: list[bytes]) -> None:
    column, kind, rest = word(t[0]), t[1], t[2:]
    missing_yes = bool(rest) and rest[-1] == b"missing"
    rest = rest[:-1] if missing_yes else rest
    if kind == b"words" and rest and not missing_yes:
        rest = [word(x) for x in rest]
    elif kind == b"cuts" and rest:
        if not all(NUMBER.fullmatch(x) for x in rest):
            raise Unsupported("a cut is not a number")
        cuts = [float(x) for x in rest]
        if not all(np.isfinite(cuts)) or any(a >= b for a, b in zip(cuts, cuts[1:], strict=False)):
            raise Unsupported("cuts are not in rising order")
    elif kind != b"every" or rest:
        raise Unsupported("a test is not understood")
    h.tests.append((column, kind, rest, missing_yes))


def read_amount(t: list[bytes]) -> Amount:
    amount = Amount()
    if t[:1] == [b"price"] and len(t) > 1:
        amount.price, t = natural(t[1]), t[2:]
    if t[:1] == [b"weight"] and len(t) > 2:
        amount.weight, t = (word(t[1]), natural(t[2])), t[3:]
    if t:
        raise Unsupported("a goal or requirement is not understood")
    return amount


def read_cost(h: Header, t: list[bytes]) -> None:
    amount = h.require if h.require is not None else h.goals[-1] if h.goals else None
    when = t.index(b"when") if b"when" in t else len(t)
    if amount is None or when != len(h.classes) or when + 1 == len(t):
        raise Unsupported("a line `cost` does not give one cost for every class of a goal")
    conditions: list[tuple[bytes, set[bytes]]] = []
    part: list[bytes] = []
    for token in [*t[when + 1 :], b"and"] if when < len(t) else []:
        if token == b"and":
            if len(part) < 2:
                raise Unsupported("a condition of a line `cost` has no words")
            conditions.append((part[0], set(part[1:])))
            part = []
        else:
            part.append(word(token))
    amount.costs.append(([whole(x) for x in t[:when]], conditions))


# The data.


def read_data(content: bytes, header: Header) -> dict[bytes, list[bytes]]:
    """Columns by name, each a list of cells, for the columns that the header names."""
    if b"\0" in content or content.startswith(b"\xef\xbb\xbf"):
        raise Unsupported("the data hold a NUL byte or begin with a byte order mark")
    lines = content.split(b"\n")
    while lines and lines[-1] in (b"", b"\r"):
        lines.pop()
    rows = [cells(line, header.separator) for line in lines]
    if not rows:
        raise Unsupported("the data are empty")
    names = rows[0]
    if any(len(row) != len(names) for row in rows):
        raise Unsupported("the lines of the data do not have equally many values")
    if len(rows) - 1 != header.rows:
        raise Rejected(f"the data have {len(rows) - 1} rows, and the certificate is about {header.rows}")
    used = {test[0] for test in header.tests} | ({header.target} if header.classes else set())
    for amount in [*header.goals, *([header.require] if header.require else [])]:
        used |= {column for _, conditions in amount.costs for column, _ in conditions}
        used |= {amount.weight[0]} if amount.weight else set()
    used |= {header.squared[0]} if header.squared else set()
    table = {}
    for name in used:
        if names.count(name) != 1:
            raise Unsupported(f"the data do not have exactly one column {name.decode(errors='replace')!r}")
        place = names.index(name)
        table[name] = [row[place] for row in rows[1:]]
    return table


def cells(line: bytes, separator: bytes) -> list[bytes]:
    """The values of a line; quotes stand around whole values, and a quote inside is doubled."""
    line = line[:-1] if line.endswith(b"\r") else line
    if b"\r" in line:
        raise Unsupported("the data hold a carriage return inside a line")
    if b'"' not in line:
        return [cell.strip(b" \t") for cell in line.split(separator)]
    found, at = [], 0
    while True:
        if line[at : at + 1] == b'"':
            match = re.compile(rb'"((?:[^"]|"")*)"').match(line, at)
            if not match:
                raise Unsupported("a quote in the data is not closed in its line")
            found.append(match[1].replace(b'""', b'"').strip(b" \t"))
            at = match.end()
        else:
            end = line.find(separator, at)
            end = len(line) if end < 0 else end
            if b'"' in line[at:end]:
                raise Unsupported("a quote in the data stands inside a value")
            found.append(line[at:end].strip(b" \t"))
            at = end
        if at == len(line):
            return found
        if line[at : at + 1] != separator:
            raise Unsupported("a value in the data goes on after its quote")
        at += 1


def number(cell: bytes) -> float:
    if not NUMBER.fullmatch(cell) or not np.isfinite(float(cell)):
        raise Unsupported(f"{cell.decode(errors='replace')!r} in a column of numbers is not a number")
    return float(cell)


def scaled(cell: bytes, scale: int) -> int:
    """A decimal times the scale, which must be whole."""
    match = DECIMAL.fullmatch(cell)
    if not match:
        raise Unsupported(f"{cell.decode(errors='replace')!r} in a column of weights is not a decimal")
    after = match[2] or b""
    if len(match[1]) + len(after) > 18:
        raise Unsupported("a weight has more than 18 digits")
    value, rest = divmod(int(match[1] + after) * scale, 10 ** len(after))
    if rest or value > LIMIT:
        raise Unsupported("a weight times its scale is not a whole number that is small enough")
    return -value if cell.startswith(b"-") else value


# The problem.


@dataclass
class Problem:
    """Merged rows. A test t of family f sends rows with rank[f] <= t - first[f] to its yes side."""

    header: Header
    rank: Any  # families x rows
    first: list[int]  # the first test of every family, and the number of tests at the end
    vector: Any  # rows x classes: the cost of predicting each class; for squares: weight, sum, sum of squares
    loss: Any  # rows: the most that a row can cost
    count: Any  # rows: how many lines of the data it stands for
    price: int
    base: int
    matrix: Any = None  # rows x representative tests, if every family is one test
    moved: int = 0  # for squares: subtracted from every target

    def leaf(self, sums: Any) -> Any:
        """The cost of leaves with these sums, in whole numbers; for squares rounded down."""
        if self.header.squared is None:
            return sums.min(axis=-1) + self.price
        weight, total, square = (sums[..., i].astype(np.int64) for i in range(3))
        return square - -(-total * total // np.maximum(weight, 1)) + self.price

    def yes(self, test: int) -> Any:
        family = int(np.searchsorted(self.first, test, side="right")) - 1
        return self.rank[family] <= test - self.first[family]


def bind(h: Header, table: dict[bytes, list[bytes]]) -> tuple[Problem, list[Any]]:
    """The problem on merged rows, and the costs of every amount on the rows as they are."""
    if min(h.depth, h.rows) < 0 or not h.rows or not h.goals + [h.require] or not h.claim:
        raise Unsupported("the header lacks the rows, the depth, a goal or the claim")
    if (h.squared is None) != bool(h.classes) or not h.tests:
        raise Unsupported("the header needs tests, and classes unless the goal is a squared loss")
    ranks = [ranked(table[column], kind, rest, yes, h.missing) for column, kind, rest, yes in h.tests]
    first = np.cumsum([0] + [size for _, size in ranks]).tolist()
    rank = np.array([places for places, _ in ranks], dtype=np.int64)
    if h.classes:
        check_classes(h, table[h.target])
    amounts = [cost_matrix(h, table, each) for each in [*h.goals, *([h.require] if h.require else [])]]
    vector, price, moved = combined(h, table, amounts)
    order = np.lexsort(rank) if len(rank) else np.arange(h.rows)
    changes = (rank[:, order[1:]] != rank[:, order[:-1]]).any(axis=0)
    group = np.empty(h.rows, dtype=np.int64)
    group[order] = np.concatenate([[0], np.cumsum(changes)])
    merged = np.zeros((int(group.max()) + 1, vector.shape[1]), dtype=np.int64)
    np.add.at(merged, group, vector)
    count = np.bincount(group)
    rank = rank[:, np.unique(group, return_index=True)[1]]
    base = 0
    loss = np.zeros(len(merged), dtype=np.int64)
    if h.squared is None:
        least = merged.min(axis=1)
        base, merged = int(least.sum()), merged - least[:, None]
        loss = merged.max(axis=1)
        if h.support == 1:  # rows that cost nothing anywhere do not change a bound
            kept = loss > 0
            rank, merged, loss, count = rank[:, kept], merged[kept], loss[kept], count[kept]
    problem = Problem(h, rank, first, merged, loss, count, price, base, moved=moved)
    if all(size == 1 for _, size in ranks):
        kept_tests = np.unique(np.where(rank[:, :1] == 1, 1 - rank, rank), axis=0) if rank.size else rank
        problem.matrix = (kept_tests <= 0).T.astype(np.float64)
    return problem, amounts


def ranked(column: list[bytes], kind: bytes, rest: list[bytes], missing_yes: bool, missing: set[bytes]) -> Any:
    if kind == b"words":
        words = set(rest)
        return [0 if cell in words else 1 for cell in column], 1
    known = [None if cell in missing else number(cell) for cell in column]
    cuts = sorted({x for x in known if x is not None})[:-1] if kind == b"every" else [float(x) for x in rest]
    away = 0 if missing_yes else len(cuts)
    return [away if x is None else int(np.searchsorted(cuts, x, side="left")) for x in known], len(cuts)


def check_classes(h: Header, target: list[bytes]) -> None:
    for cell in set(target):
        if sum(cell in words for words in h.classes) != 1:
            raise Unsupported(f"the target {cell.decode(errors='replace')!r} is not of exactly one class")


def cost_matrix(h: Header, table: dict[bytes, list[bytes]], amount: Amount) -> Any:
    """rows x classes of Python's whole numbers."""
    if h.squared is not None and amount.costs:
        raise Unsupported("a squared loss has no costs of classes")
    weights = [1] * h.rows
    if amount.weight is not None:
        weights = [scaled(cell, amount.weight[1]) for cell in table[amount.weight[0]]]
    matrix = np.zeros((h.rows, max(1, len(h.classes))), dtype=object)
    for costs, conditions in amount.costs:
        holds = [all(table[column][row] in words for column, words in conditions) for row in range(h.rows)]
        matrix[np.array(holds, dtype=bool)] += np.array(costs, dtype=object)
    matrix *= np.array(weights, dtype=object)[:, None]
    bounded(sum(int(abs(row).max()) for row in matrix) + amount.price * h.rows)
    return matrix if h.squared is None else np.array(weights, dtype=object)


def bounded(total: int) -> None:
    if total >= LIMIT:
        raise Unsupported("costs are too large: their sum reaches 2^53")


def combined(h: Header, table: dict[bytes, list[bytes]], amounts: list[Any]) -> tuple[Any, int, int]:
    """One vector of costs per row, one price, and the shift of squared targets."""
    if h.squared is not None:
        return squares(h, table, amounts)
    if h.claim == b"infeasible":
        if h.require is None or h.multiplier != (0, 1) or h.tree or h.values or h.goals:
            raise Unsupported("a certificate that nothing is feasible has one requirement and no goal or tree")
        return amounts[-1].astype(np.int64), h.require.price, 0
    by, divisor = h.multiplier
    if not h.goals or divisor < 1 or (by and h.require is None):
        raise Unsupported("the goal or the requirement of the multiplier is missing")
    factors = factors_of(h, amounts)
    total = sum((f * divisor * a for f, a in zip(factors, amounts, strict=False)), np.zeros((1, 1), dtype=object))
    price = sum(f * divisor * goal.price for f, goal in zip(factors, h.goals, strict=True))
    if by:
        assert h.require is not None
        total, price = total + by * amounts[-1], price + by * h.require.price
    bounded(sum(int(abs(row).max()) for row in total) + price * h.rows)
    return total.astype(np.int64), price, 0


def factors_of(h: Header, amounts: list[Any]) -> list[int]:
    """A goal outweighs all later ones: its factor is one more than the range of what follows, times their factor."""
    factors = [1]
    for goal, matrix in reversed(list(zip(h.goals[1:], amounts[1:], strict=False))):
        spread = sum(int(row.max() - row.min()) for row in matrix) + goal.price * (h.rows - 1)
        factors.insert(0, factors[0] * (spread + 1))
        bounded(factors[0])
    return factors


def squares(h: Header, table: dict[bytes, list[bytes]], amounts: list[Any]) -> tuple[Any, int, int]:
    assert h.squared is not None
    if len(h.goals) != 1 or h.require is not None or h.claim != b"bound":
        raise Unsupported("a squared loss is one goal without requirement, and the claim is a bound")
    weight, targets = amounts[0], [scaled(cell, h.squared[1]) for cell in table[h.squared[0]]]
    middle = sum(targets) // h.rows
    shifted = np.array([x - middle for x in targets], dtype=object)
    if any(w < 0 for w in weight) or sum(weight * abs(shifted)) >= 2**31:
        raise Unsupported("squares are too large, or a weight is negative")
    bounded(sum(weight * shifted * shifted) + h.goals[0].price * h.rows)
    vector = np.stack([weight, weight * shifted, weight * shifted * shifted], axis=1).astype(np.int64)
    return vector, h.goals[0].price, middle


# Rule DEPTH2: the exact best of depth at most two.


def best(p: Problem, rows: Any, depth: int, leaves: int) -> int:
    """The least cost on these rows of a tree of depth <= 2; a value above every cost if there is none."""
    index = np.flatnonzero(rows)
    leaf = int(p.leaf(p.vector[index].sum(axis=0)))
    if p.count[index].sum() < p.header.support and p.header.support > 1:
        return LIMIT
    if depth == 0 or leaves == 1 or not len(index):
        return leaf
    if p.matrix is not None:
        return min(leaf, pairs(p, index, depth, leaves))
    if depth == 1:
        return min(stumps(p, index))
    return min([leaf] + [one_family(p, index, family, leaves) for family in range(len(p.rank))])


def pairs(p: Problem, index: Any, depth: int, leaves: int) -> int:
    """The best of two to four leaves, from the sums of all pairs of tests."""
    x = p.matrix[index]
    support = p.header.support
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
    return np.where(sums[..., -1] < p.header.support, LIMIT, p.leaf(sums[..., :-1]))


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
        if p.header.support > 1:
            rows = np.cumsum(np.bincount(places, count, size + 1))[:size]
            cost = np.where(np.minimum(rows, count.sum() - rows) < p.header.support, LIMIT, cost)
        least = min(least, int(cost.min()))
    return int(p.leaf(everything)), least


def one_family(p: Problem, index: Any, family: int, leaves: int) -> int:
    """The best tree of depth two with a test of this family at the root.

    A value v at one cut is a bound of v minus the cost of the rows in between for every later cut: the no side loses
    these rows and the yes side only gains. So cuts are skipped that cannot be better than the best so far.
    """
    places = p.rank[family][index]
    cuts = np.unique(places)[:-1]
    cuts = cuts[(cuts < p.first[family + 1] - p.first[family])]
    until = [int(p.loss[index[places <= cut]].sum()) for cut in cuts]
    least, at = LIMIT, 0
    while at < len(cuts):
        yes, no = index[places <= cuts[at]], index[places > cuts[at]]
        if min(p.count[yes].sum(), p.count[no].sum()) >= p.header.support:
            (one, two), (other_one, other_two) = stumps(p, yes), stumps(p, no)
            value = one + other_one
            if leaves > 2:
                value = min(value, two + other_one, one + other_two)
            if leaves > 3:
                value = min(value, two + other_two)
            least = min(least, value)
        after = at + 1
        while p.header.support == 1 and p.header.squared is None and after < len(cuts):
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
    limited = p.header.leaves > 0
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
        if entries or best(p, rows, claim.depth, claim.leaves) < claim.bound:
            raise Rejected("the best tree of this depth costs less than the bound")
        return
    if int(p.leaf(p.vector[rows].sum(axis=0))) < claim.bound:
        raise Rejected("a single leaf costs less than the bound")
    limited = p.header.leaves > 0
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
        if low < last and p.header.support > 1:
            raise Rejected("with a least number of rows per leaf, an entry covers one cut of a column only")
        have = evidence(p, claims, claim, rows & p.yes(low), sides[0], allowed[0])
        if have < claim.bound:
            have += evidence(p, claims, claim, rows & ~p.yes(last), sides[1], allowed[1])
        if have < claim.bound:
            raise Rejected(f"the two sides of the tests {low} to {last} do not add up to the bound")
        low = last + 1


def evidence(p: Problem, claims: list[Claim], claim: Claim, rows: Any, code: int, leaves: int) -> int:
    """A bound on these rows: 0 trivial, 1 recomputed, n: claim n - 2 by similarity."""
    if code == 0:
        return p.price
    if code == 1:
        if claim.depth > 3:
            raise Rejected("a side that is deeper than two cannot be recomputed")
        return best(p, rows, claim.depth - 1, leaves)
    if code - 2 >= len(claims):
        raise Rejected("a reference does not point backwards")
    other = claims[code - 2]
    if other.depth < claim.depth - 1 or other.leaves < leaves:
        raise Rejected("a reference is about smaller trees")
    theirs = rows_of(p, other.literals)
    more, fewer = theirs & ~rows, rows & ~theirs
    if p.header.support > 1 and fewer.any():
        raise Rejected("with a least number of rows per leaf, a reference must be about a superset")
    if p.header.squared is not None and more.any():
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
            if fewer >= p.header.support and canonical(yes) not in known:
                raise Rejected(f"test {test} is not covered")


def canonical(yes: Any) -> bytes:
    """The same for a test and its complement."""
    return bytes(np.packbits(yes ^ yes[0] if len(yes) else yes))


# The statement.


def check_tree(h: Header, table: dict[bytes, list[bytes]], p: Problem, amounts: list[Any]) -> list[Any]:
    """The tree keeps the limits; returns its value of every amount."""
    tests = [ranked(table[column], kind, rest, yes, h.missing) for column, kind, rest, yes in h.tests]
    tokens, at = h.tree or [], 0
    leaves: list[tuple[Any, int]] = []
    todo = [(np.ones(h.rows, dtype=bool), 0)]
    while todo:
        rows, depth = todo.pop()
        kind, numbers = tokens[at : at + 1], [natural(x) for x in tokens[at + 1 : at + 3 if tokens[at : at + 1] == [b"split"] else at + 2]]
        if kind == [b"leaf"] and len(numbers) == 1 and (not h.classes or numbers[0] < len(h.classes)):
            leaves.append((rows, numbers[0]))
            at += 2
        elif kind == [b"split"] and len(numbers) == 2 and numbers[0] < len(tests) and numbers[1] < tests[numbers[0]][1]:
            yes = np.array(tests[numbers[0]][0]) <= numbers[1]
            todo += [(rows & ~yes, depth + 1), (rows & yes, depth + 1)]
            at += 3
            if depth + 1 > h.depth:
                raise Rejected("the tree is too deep")
        else:
            raise Rejected("the tree cannot be read")
    if at != len(tokens):
        raise Rejected("the tree cannot be read")
    if h.leaves and len(leaves) > h.leaves:
        raise Rejected("the tree has too many leaves")
    if any(rows.sum() < h.support for rows, _ in leaves):
        raise Rejected("a leaf of the tree has too few rows")
    if h.squared is not None:
        vector, _, _ = squares(h, table, amounts)
        losses = [vector[rows].sum(axis=0).astype(object) for rows, _ in leaves]
        exact = sum(s - -(-t * t // max(w, 1)) for w, t, s in losses)  # rounded down in every leaf
        return [int(exact) + h.goals[0].price * len(leaves)]
    prices = [goal.price for goal in h.goals] + ([h.require.price] if h.require else [])
    return [
        sum(int(matrix[rows, label].sum()) for rows, label in leaves) + price * len(leaves)
        for matrix, price in zip(amounts, prices, strict=True)
    ]


def check(data: bytes, certificate: bytes) -> str:
    """What was verified, in a sentence; Rejected or Unsupported otherwise."""
    lines = certificate.split(b"\n")
    header, claims, start = read_header(lines)
    table = read_data(data, header)
    problem, amounts = bind(header, table)
    root = check_claims(problem, lines[start:], claims)
    most = header.leaves or MOST_LEAVES
    if root.literals or root.depth < header.depth or root.leaves < most:
        raise Rejected("the last claim is not about all rows, or about smaller trees than the statement")
    proved = root.bound + problem.base
    if header.claim == b"infeasible":
        assert header.require is not None
        if proved <= header.require.limit:
            raise Rejected(f"the claims prove at least {proved}, which the requirement allows")
        return f"no tree meets the requirement: every tree costs at least {proved}, and {header.require.limit} is allowed"
    return check_statement(header, table, problem, amounts, proved)


def check_statement(h: Header, table: dict[bytes, list[bytes]], p: Problem, amounts: list[Any], proved: int) -> str:
    values = check_tree(h, table, p, amounts) if h.tree is not None else None
    if h.require is not None and values is not None and values.pop() > h.require.limit:
        raise Rejected("the tree does not meet the requirement")
    if values != h.values or (h.claim == b"optimal" and values is None):
        raise Rejected(f"the tree has the values {values}, and the certificate states {h.values}")
    if h.claim == b"bound":
        if len(h.goals) != 1:
            raise Unsupported("a bound is about one goal")
        wanted = h.bound
    else:
        wanted = sum(f * v for f, v in zip(factors_of(h, amounts), values, strict=True))
    by, divisor = h.multiplier
    allowed = by * h.require.limit if h.require else 0
    # A better tree would have a combined value of at most wanted - 1, because values are whole numbers.
    if proved <= divisor * (wanted - 1) + allowed:
        raise Rejected(f"the claims prove at least {proved}, which is not enough for the statement")
    if h.claim == b"optimal":
        return f"the tree is optimal: its value is {' '.join(map(str, values))}, and no tree has a smaller one"
    found = "" if values is None else f"; the tree has {values[0]}"
    return f"no tree has a value below {wanted}{found}"


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("use: checker.py data.csv proof.cert.gz")
        return 2
    try:
        with open(arguments[0], "rb") as file:
            data = file.read()
        certificate = sys.stdin.buffer.read()if arguments[1] == "-" else open(arguments[1], "rb").read()
        if certificate.startswith(b"\x1f\x8b"):
            certificate = gzip.decompress(certificate)
        print(f"verified: {check(data, certificate)}")
        return 0
    except Rejected as fault:
        print(f"rejected: {fault}")
        return 1
    except (Unsupported, OSError, EOFError) as fault:
        print(f"unsupported: {fault}")
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
