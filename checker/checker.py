"""A data file and a certificate -> verified, rejected or unsupported, and a sentence that says why.

    python checker.py data.csv proof.cert.gz

This is the readable reference; `checker.c` is the fast twin and must give the same verdict. It imports nothing but
numpy and the standard library. It reads the rows itself and proves the statement on the rows it read. The format, the
rules and why they are sound: docs/certificates.md. Exit codes: 0 verified, 1 rejected, 2 unsupported.
"""

import gzip
import re
import sys
import zlib
from bisect import bisect_left
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

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


def need(condition, why):
    if not condition:
        raise Unsupported(why)


def prove(condition, why):
    if not condition:
        raise Rejected(why)


def whole(token, least=-LIMIT, most=LIMIT):
    need(re.fullmatch(rb"-?\d{1,16}", token) and least <= int(token) <= most, "a whole number is out of range")
    return int(token)


def word(token):
    need(token.startswith(b'"'), "a text in quotes is missing")
    return re.sub(rb"\\(.)", rb"\1", token[1:-1])


def number(token):
    need(NUMBER.fullmatch(token) and np.isfinite(float(token)), "a cell of a number column, or a cut, is not a number")
    return float(token)


def scaled(cell, scale):
    """A decimal times the scale, which must be whole."""
    match = DECIMAL.fullmatch(cell)
    need(match and len(match[1] + (match[2] or b"")) <= 18, "a weight or target is not a decimal of at most 18 digits")
    value, rest = divmod(int(match[1] + (match[2] or b"")) * scale, 10 ** len(match[2] or b""))
    need(not rest and value <= LIMIT, "a weight or target times its scale is not a whole number that is small enough")
    return -value if cell.startswith(b"-") else value


def bounded(total):
    need(total < LIMIT, "costs are too large: their sum reaches 2^53")
    return total


# The header: lines in a fixed order, each a key and what it needs.


class Lines:
    def __init__(self, lines):
        self.lines, self.at = lines, 0

    def take(self, key, least=1, most=1):
        """The tokens after the key if the next line has this key, else None."""
        need(self.at < len(self.lines), "the header ends too early")
        need(LINE.fullmatch(self.lines[self.at]), "a line of the certificate cannot be read")
        tokens = TOKEN.findall(self.lines[self.at])
        if tokens[0] != key:
            return None
        self.at += 1
        need(least < len(tokens) <= most + 1, "a line of the header is too short or too long")
        return tokens[1:]

    def must(self, key, least=1, most=1):
        tokens = self.take(key, least, most)
        need(tokens is not None, f"the line `{key.decode()}` is missing")
        return tokens

    def each(self, key, least):
        while (tokens := self.take(key, least, 2**31)) is not None:
            yield tokens


def read_header(lines):
    need(lines.must(b"treeml", 2, 2) == [b"certificate", b"1"], "this is not a certificate of version 1")
    h = SimpleNamespace(separator=word(lines.must(b"separator")[0]))
    need(h.separator in (b",", b";", b"|"), "the separator is not supported")
    h.rows = whole(lines.must(b"rows")[0], 1, 2**31 - 1)
    squared = lines.take(b"squared", 2, 2)
    h.target = word(squared[0] if squared else lines.must(b"target")[0])  # the column that is predicted
    h.scale = whole(squared[1], 0) if squared else 0  # of the target of a squared loss
    h.classes = [] if squared else [[word(x) for x in tokens] for tokens in lines.each(b"class", 1)]
    need(squared or 1 <= len(h.classes) <= 64, "there are no classes, or more than 64")
    h.depth = whole(lines.must(b"depth")[0], 0, MOST_DEPTH)
    leaves = lines.take(b"leaves")
    h.leaves = whole(leaves[0], 1, MOST_LEAVES) if leaves else 0  # 0: not limited
    h.support = whole((lines.take(b"support") or [b"1"])[0], 1, 2**31 - 1)
    h.missing = [word(x) for x in lines.take(b"missing", 1, 2**31) or []]
    h.tests = [read_test(tokens) for tokens in lines.each(b"test", 2)]
    need(h.tests, "there are no tests")
    h.goals = [read_amount(lines, tokens, len(h.classes)) for tokens in lines.each(b"goal", 0)]
    required = lines.take(b"require", 1, 2**31)
    h.require = [read_amount(lines, required[1:], len(h.classes))] if required else []
    h.limit = whole(required[0]) if required else 0
    by = lines.take(b"multiplier", 2, 2) or [b"0", b"1"]
    h.multiplier, h.divisor = whole(by[0], 0, 2**31), whole(by[1], 1, 2**31)
    claim = lines.must(b"claim", 1, 2)
    h.claim = claim[0]
    need(h.claim in (b"optimal", b"bound", b"infeasible"), "the claim is not understood")
    need(len(claim) == 1 + (h.claim == b"bound"), "the claim is not understood")
    h.bound = whole(claim[1]) if len(claim) > 1 else 0
    h.tree = [whole(x) for x in lines.take(b"tree", 1, 2**31) or []]  # in prefix order: a test, or -1 - class
    h.values = [whole(x) for x in lines.take(b"value", 1, 8) or []]
    if h.claim == b"infeasible":
        others = h.goals or h.multiplier or h.tree or h.values or h.divisor > 1
        need(h.require and h.classes and not others, "infeasibility is about classes and a requirement alone")
        return h
    need(1 <= len(h.goals) <= 8 and (h.require or not h.multiplier), "there is no goal, or more than 8")
    need(h.claim == b"optimal" or len(h.goals) == 1, "a bound is about one goal")
    plain = h.claim == b"bound" and not h.require and not h.goals[0].costs
    need(h.classes or plain, "a squared loss is one goal without requirement, and the claim is a bound")
    return h


def read_test(t):
    """Column, kind, words or cuts, and whether missing values are on the yes side."""
    column, kind, rest = word(t[0]), t[1], t[2:]
    missing_yes = kind != b"words" and rest[-1:] == [b"missing"]
    rest = rest[:-1] if missing_yes else rest
    need(kind in (b"words", b"cuts", b"every") and bool(rest) == (kind != b"every"), "a test is not understood")
    rest = [word(x) if kind == b"words" else number(x) for x in rest]
    need(kind != b"cuts" or all(a < b for a, b in pairwise(rest)), "cuts are not in rising order")
    return column, kind, rest, missing_yes


def read_amount(lines, t, classes):
    """A sum over rows and leaves: price per leaf, and costs of predicted classes for rows that match conditions."""
    a = SimpleNamespace(price=0, weight=None, scale=0, costs=[], matrix=None)
    if t[:1] == [b"price"] and len(t) > 1:
        a.price, t = whole(t[1], 0), t[2:]
    if t[:1] == [b"weight"] and len(t) > 2:
        a.weight, a.scale, t = word(t[1]), whole(t[2], 0), t[3:]
    need(not t, "a goal or requirement is not understood")
    for tokens in lines.each(b"cost", 1):
        need(len(tokens) >= classes, "a line `cost` does not give one cost for every class")
        costs, rest, conditions = [whole(x) for x in tokens[:classes]], tokens[classes:], []
        while rest:  # when "column" "word" ..., and again for every condition
            end = rest.index(b"when", 1) if b"when" in rest[1:] else len(rest)
            need(rest[0] == b"when" and end > 2, "a condition of a line `cost` is not understood")
            conditions.append((word(rest[1]), {word(x) for x in rest[2:end]}))
            rest = rest[end:]
        a.costs.append((costs, conditions))
    return a


# The data.


def read_data(content, h):
    """Columns by name, each a list of cells, for the columns that the header names."""
    need(b"\0" not in content and not content.startswith(b"\xef\xbb\xbf"), "the data hold NUL or a byte order mark")
    lines = content.split(b"\n")
    while lines and lines[-1] in (b"", b"\r"):
        lines.pop()
    need(lines, "the data are empty")
    rows = [cells(line[:-1] if line.endswith(b"\r") else line, h.separator) for line in lines]
    need(all(len(row) == len(rows[0]) for row in rows), "the lines of the data do not have equally many values")
    prove(len(rows) - 1 == h.rows, f"the data have {len(rows) - 1} rows, and the certificate is about {h.rows}")
    used = {h.target, *(test[0] for test in h.tests)}
    for a in h.goals + h.require:
        used |= {column for _, conditions in a.costs for column, _ in conditions} | ({a.weight} - {None})
    need(all(rows[0].count(name) == 1 for name in used), "the data do not have exactly one column of a name")
    return {name: [row[rows[0].index(name)] for row in rows[1:]] for name in used}


def cells(line, separator):
    """The values of a line; quotes stand around whole values, and a quote inside is doubled."""
    need(b"\r" not in line, "the data hold a carriage return inside a line")
    cell = re.compile(rb'"((?:[^"]|"")*)"|([^"' + re.escape(separator) + rb"]*)")
    found, at = [], 0
    while True:
        match = cell.match(line, at)
        found.append((match[2] if match[1] is None else match[1].replace(b'""', b'"')).strip(b" \t"))
        at = match.end()
        if at == len(line):
            return found
        need(line[at : at + 1] == separator, "a quote in the data is not closed, or stands inside a value")
        at += 1


# The problem on merged rows. A test t of family f sends rows with rank[f] <= t - first[f] to its yes side.


class Problem:
    def __init__(self, h, table):
        self.h = h
        need(h.rows * len(h.tests) <= MOST_CELLS, "too many rows and tests")
        ranks = [ranked(table[column], *test, h.missing) for column, *test in h.tests]
        self.first = np.cumsum([0] + [size for _, size in ranks])  # test of every family; at the end their number
        self.all_rank = np.array([places for places, _ in ranks])  # families x rows of the data
        for cell in set(table[h.target]) if h.classes else ():
            need(sum(cell in words for words in h.classes) == 1, "a value of the target is not of exactly one class")
        for a in h.goals + h.require:
            cost_matrix(h, table, a)
        self.price, self.factors, self.all_vector = combined(h) if h.classes else squares(h, table)
        self.merge()
        self.matrix = None  # rows x tests that differ, if every family is one test
        if (np.diff(self.first) == 1).all():
            same = np.where(self.rank[:, :1] == 1, 1 - self.rank, self.rank)
            self.matrix = (np.unique(same, axis=0) <= 0).T.astype(np.float64)

    def merge(self):
        """Rule NORMALIZE: equal rows become one; what its cheapest class costs is unavoidable and goes to the base."""
        order = np.lexsort(self.all_rank)
        changes = (self.all_rank[:, order[1:]] != self.all_rank[:, order[:-1]]).any(axis=0)
        starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
        self.rank, self.count = self.all_rank[:, order[starts]], np.diff(np.append(starts, len(order)))
        self.vector = np.add.reduceat(self.all_vector[order], starts, axis=0)
        self.loss, self.base = np.zeros(len(starts), dtype=np.int64), 0  # the most that a row can cost
        if self.h.classes:
            least = self.vector.min(axis=1)
            self.base, self.vector = int(least.sum()), self.vector - least[:, None]
            self.loss = self.vector.max(axis=1)
            if self.h.support == 1:  # rows that cost nothing anywhere do not change a bound
                kept = self.loss > 0
                self.rank, self.count = self.rank[:, kept], self.count[kept]
                self.vector, self.loss = self.vector[kept], self.loss[kept]

    def leaf(self, sums):
        """The cost of leaves with these sums, in whole numbers; squares are rounded down."""
        if self.h.classes:
            return sums.min(axis=-1) + self.price
        weight, total, square = (sums[..., i].astype(np.int64) for i in range(3))
        return square - -(-total * total // np.maximum(weight, 1)) + self.price

    def yes(self, test, rank=None):
        family = int(np.searchsorted(self.first, test, side="right")) - 1
        return (self.rank if rank is None else rank)[family] <= test - self.first[family]

    def rows_of(self, literals):
        rows = np.ones(len(self.loss), dtype=bool)
        for literal in literals:
            rows &= self.yes(literal // 2) == bool(literal % 2)
        return rows


def ranked(column, kind, rest, missing_yes, missing):
    """For every row the number of cuts below its value, and the number of cuts."""
    if kind == b"words":
        words = set(rest)
        return [0 if cell in words else 1 for cell in column], 1
    value = {cell: number(cell) for cell in set(column) - set(missing)}
    cuts = sorted(set(value.values()))[:-1] if kind == b"every" else rest
    place = {cell: bisect_left(cuts, x) for cell, x in value.items()}
    return [place.get(cell, 0 if missing_yes else len(cuts)) for cell in column], len(cuts)


def cost_matrix(h, table, a):
    """rows x classes of Python's whole numbers; for a squared loss rows x 1, the weights."""
    weights = np.ones(h.rows, dtype=object)
    if a.weight is not None:
        weights[:] = [scaled(cell, a.scale) for cell in table[a.weight]]
    matrix = np.zeros((h.rows, len(h.classes)), dtype=object) if h.classes else np.ones((h.rows, 1), dtype=object)
    for costs, conditions in a.costs:
        holds = np.ones(h.rows, dtype=bool)
        for column, words in conditions:
            holds &= np.array([cell in words for cell in table[column]])
        matrix[holds] += np.array(costs, dtype=object)
    bounded(int(abs(matrix).max()))
    a.matrix = matrix * weights[:, None]
    bounded(int(abs(a.matrix).max(axis=1).sum()) + a.price * h.rows)


def combined(h):
    """Price, factors of the goals, and one vector of costs per row. A goal outweighs all later ones: its factor is that
    of the next one times one more than the range of the next one."""
    amounts, by = h.goals + h.require, [1] * len(h.goals)
    for i in range(len(by) - 1, 0, -1):
        spread = int((amounts[i].matrix.max(axis=1) - amounts[i].matrix.min(axis=1)).sum())
        by[i - 1] = bounded(by[i] * (spread + amounts[i].price * (h.rows - 1) + 1))
    each = [bounded(f * h.divisor) for f in by] + [h.multiplier if h.goals else 1] * len(h.require)
    price = sum(f * a.price for f, a in zip(each, amounts, strict=True))
    total = sum(f * a.matrix for f, a in zip(each, amounts, strict=True))
    bounded(int(abs(total).max(axis=1).sum()) + price * h.rows)
    return price, by, total.astype(np.int64)


def squares(h, table):
    """Price, factor, and for every row its weight, weight * target and weight * target^2."""
    targets = [scaled(cell, h.scale) for cell in table[h.target]]
    shifted = np.array([x - sum(targets) // h.rows for x in targets], dtype=object)  # no constant changes the loss
    weight = h.goals[0].matrix[:, 0]
    need(min(weight) >= 0 and sum(weight * abs(shifted)) < 2**31, "squares are too large, or a weight is negative")
    bounded(sum(weight * shifted * shifted) + h.goals[0].price * h.rows)
    vector = np.stack([weight, weight * shifted, weight * shifted * shifted], axis=1).astype(np.int64)
    return h.goals[0].price, [1], vector


# Rule DEPTH2: the exact best of depth at most two.


def best(p, rows, depth, leaves, cap):
    """The least cost on these rows of a tree of depth <= 2, or a number from `cap` on if that costs more."""
    index = np.flatnonzero(rows)
    if p.h.support > 1 and p.count[index].sum() < p.h.support:
        return LIMIT
    least = int(p.leaf(p.vector[index].sum(axis=0)))
    if depth == 0 or leaves == 1 or not len(index):
        return least
    if p.matrix is not None:
        return min(least, pairs(p, index, leaves if depth > 1 else 2))
    if depth == 1:
        return min(stumps(p, index))
    least = min(least, cap)
    for family in range(len(p.rank)):
        least = one_family(p, index, family, leaves, least)
    return least


def pairs(p, index, leaves):
    """The best of two up to four leaves, from the sums of all pairs of tests."""
    x, columns = p.matrix[index], [*p.vector[index].T, p.count[index]]
    both = np.stack([x.T @ (x * column[:, None]) for column in columns], axis=-1)
    one = np.stack([column @ x for column in columns], axis=-1)
    everything = np.array([column.sum() for column in columns], dtype=np.float64)

    def cell(sums):  # above every other cost where too few rows are
        return np.where(sums[..., -1] < p.h.support, LIMIT, p.leaf(sums[..., :-1]))

    yes, no = cell(one), cell(everything - one)
    least = (yes + no).min(initial=LIMIT)
    first, second = one[:, None, :], one[None, :, :]
    yes_split = (cell(both) + cell(first - both)).min(axis=1, initial=2 * LIMIT)
    no_split = (cell(second - both) + cell(everything - first - second + both)).min(axis=1, initial=2 * LIMIT)
    if leaves > 2:
        least = min(least, (yes_split + no).min(initial=LIMIT), (yes + no_split).min(initial=LIMIT))
    return int(min(least, (yes_split + no_split).min(initial=LIMIT)) if leaves > 3 else least)


def stumps(p, index):
    """The cost of a leaf, and the least cost of two leaves."""
    vector, count, least = p.vector[index], p.count[index], LIMIT
    everything = vector.sum(axis=0)
    for family in range(len(p.rank)):
        places, size = p.rank[family][index], p.first[family + 1] - p.first[family]
        if not size or not len(index):
            continue
        sums = np.stack([np.bincount(places, column, size + 1) for column in vector.T], axis=-1)
        left = np.cumsum(sums, axis=0)[:size].astype(np.int64)
        rows = np.cumsum(np.bincount(places, count, size + 1))[:size]
        few = np.minimum(rows, count.sum() - rows) < p.h.support
        least = min(least, int(np.where(few, LIMIT, p.leaf(left) + p.leaf(everything - left)).min()))
    return int(p.leaf(everything)), least


def one_family(p, index, family, leaves, least):
    """The best tree of depth two with a test of this family at the root, if it costs less than `least`.

    A value v at one cut is a bound of v minus the cost of the rows in between for every later cut: the no side loses
    these rows and the yes side only gains. So cuts are skipped that cannot be better than the best so far.
    """
    places = p.rank[family][index]
    cuts = [cut for cut in np.unique(places)[:-1] if cut < p.first[family + 1] - p.first[family]]
    until = [int(p.loss[index[places <= cut]].sum()) for cut in cuts]
    floor = -LIMIT  # the value at the last cut that was not skipped, less what has moved since
    for at, cut in enumerate(cuts):
        if p.h.support == 1 and p.h.classes and floor - until[at] >= least:
            continue
        yes, no = index[places <= cut], index[places > cut]
        if min(p.count[yes].sum(), p.count[no].sum()) < p.h.support:
            continue
        (one, two), (other_one, other_two) = stumps(p, yes), stumps(p, no)
        sums = [one + other_one, two + other_one, one + other_two, two + other_two]
        value = min(sums[: 1 if leaves < 3 else 3 if leaves < 4 else 4])
        least, floor = min(least, value), value + until[at]
    return least


# The claims: depth, leaves, bound and literals, each of which follows from the rows and from earlier claims.


def check_claims(p, lines, many):
    complete = len(lines) > many and lines[many] == b"end" and not any(lines[many + 1 :])
    prove(complete, "the file does not end after the number of claims that it states")
    prove(many, "there is no claim")
    claims = []
    for at, line in enumerate(lines[:many]):
        need(re.fullmatch(rb"\d{1,16}(?: \d{1,16})*", line), f"claim {at} is not a line of whole numbers")
        try:
            claims.append(check_claim(p, claims, [int(x) for x in line.split(b" ")]))
        except Rejected as fault:
            raise Rejected(f"claim {at}: {fault}") from None
    return claims[-1]


def check_claim(p, claims, numbers):
    limited = p.h.leaves > 0
    start, width = (4, 6) if limited else (3, 4)
    prove(len(numbers) >= start, "the line is too short")
    depth, leaves = numbers[0], numbers[1] if limited else MOST_LEAVES
    bound, length = numbers[start - 2 : start]
    in_range = depth <= MOST_DEPTH and 1 <= leaves <= MOST_LEAVES and bound < LIMIT and length <= MOST_DEPTH
    prove(in_range and start + length < len(numbers), "a number of the line is out of range")
    literals, many = numbers[start : start + length], numbers[start + length]
    prove(len(numbers) == start + length + 1 + width * many, "the line has the wrong length")
    prove(all(literal < 2 * p.first[-1] for literal in literals), "a test does not exist")
    claim, rows = (depth, leaves, bound, literals), p.rows_of(literals)
    if depth <= 2:
        prove(not many and best(p, rows, depth, leaves, bound) >= bound, "the best tree of this depth costs less")
        return claim
    prove(best(p, rows, 0, 1, 0) >= bound, "a single leaf costs less than the bound")
    wanted = (1 << leaves) - 2 if limited else 1  # bit l: the yes side has l leaves
    covered = [0] * int(p.first[-1])
    for at in range(start + length + 1, len(numbers), width):
        low, high, *some, yes, no = numbers[at : at + width]
        fewest, most = some if limited else (1, 1)
        exist = low <= high < p.first[-1] and 1 <= fewest <= most < max(2, leaves)
        prove(exist, "an entry names tests or leaves that do not exist")
        allowed = (most, leaves - fewest) if limited else (MOST_LEAVES, MOST_LEAVES)
        check_entry(p, claims, claim, rows, (low, high), (yes, no), allowed)
        for test in range(low, high + 1):
            covered[test] |= (2 << most) - (1 << fewest) if limited else 1
    if wanted:
        check_cover(p, rows, [mask & wanted == wanted for mask in covered])
    return claim


def check_entry(p, claims, claim, rows, tests, codes, allowed):
    """Rule SPLIT for a range of tests: for the part in one family, the yes side of its first and the no side of its
    last test, because all yes sides in between contain the former and all no sides contain the latter."""
    (low, high), bound = tests, claim[2]
    while low <= high:
        family = int(np.searchsorted(p.first, low, side="right")) - 1
        last = min(high, int(p.first[family + 1]) - 1)
        prove(low == last or p.h.support == 1, "an entry covers several cuts, and leaves need rows")
        have = evidence(p, claims, claim[0] - 1, rows & p.yes(low), codes[0], allowed[0], bound)
        if have < bound:
            have += evidence(p, claims, claim[0] - 1, rows & ~p.yes(last), codes[1], allowed[1], bound - have)
        prove(have >= bound, f"the two sides of the tests {low} to {last} do not add up to the bound")
        low = last + 1


def evidence(p, claims, depth, rows, code, leaves, cap):
    """A bound on these rows: 0 trivial, 1 recomputed, n: claim n - 2 by rule SIMILARITY."""
    if code == 0:
        return p.price
    if code == 1:
        prove(depth <= 2, "a side that is deeper than two cannot be recomputed")
        return best(p, rows, depth, leaves, cap)
    prove(code - 2 < len(claims), "a reference does not point backwards")
    other_depth, other_leaves, bound, literals = claims[code - 2]
    large = other_depth >= depth and other_leaves >= min(leaves, 2**depth)
    prove(large, "a reference is about smaller trees")
    theirs = p.rows_of(literals)
    prove(p.h.support == 1 or not (rows & ~theirs).any(), "leaves need rows, so a reference must be about a superset")
    prove(p.h.classes or not (theirs & ~rows).any(), "with a squared loss, a reference must be about a subset")
    return max(p.price, bound - int(p.loss[theirs & ~rows].sum()))


def check_cover(p, rows, covered):
    """Every test is covered, or splits nothing, or splits these rows as a covered one, or its complement, does."""
    if all(covered):
        return
    index = np.flatnonzero(rows)

    def canonical(test):
        yes = p.yes(test)[index]
        return np.packbits(yes ^ yes[:1]).tobytes()

    known = {canonical(test) for test, is_covered in enumerate(covered) if is_covered}
    for test in (test for test, is_covered in enumerate(covered) if not is_covered):
        yes = p.yes(test)[index]
        fewer = min(p.count[index][yes].sum(), p.count[index][~yes].sum())
        prove(fewer < p.h.support or canonical(test) in known, f"test {test} is not covered")


# The statement.


def check_tree(p):
    """The tree keeps the limits; returns its value of every goal and requirement."""
    h, at, leaves = p.h, 0, 0
    values = [0] * len(h.goals + h.require)
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
        for i, a in enumerate(h.goals + h.require):
            costs = int(a.matrix[rows, -1 - node].sum()) + a.price if h.classes else 0
            values[i] += costs if h.classes else int(p.leaf(p.all_vector[rows].sum(axis=0)))
    prove(at == len(h.tree), "the tree cannot be read")
    prove(not h.leaves or leaves <= h.leaves, "the tree has too many leaves")
    return values


def check(data, certificate):
    """What was verified, in a sentence; Rejected or Unsupported otherwise."""
    lines = Lines(certificate.split(b"\n"))
    h = read_header(lines)
    many = whole(lines.must(b"claims")[0], 0)
    p = Problem(h, read_data(data, h))
    depth, leaves, bound, literals = check_claims(p, lines.lines[lines.at :], many)
    is_root = not literals and depth >= h.depth and leaves >= (h.leaves or MOST_LEAVES)
    prove(is_root, "the last claim is not about all rows, or about smaller trees than the statement")
    proved = bound + p.base
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


def main(arguments):
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
