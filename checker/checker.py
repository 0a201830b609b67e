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
from io import BytesIO
from itertools import pairwise
from math import isfinite
from pathlib import Path
from types import SimpleNamespace

import numpy as np

LIMIT = 2**53  # every sum stays below it, so that float64 products are exact
MOST_LEAVES, MOST_DEPTH, MOST_CELLS, MOST_VOTES, MANY = 62, 60, 2**26, 2**41, 2**31
TOO_LARGE = "costs are too large: their sum reaches 2^53"


class Rejected(Exception):
    """The certificate does not prove its statement."""


class Unsupported(Exception):
    """The checker does not know the form of a file, or its numbers are too large."""


def need(condition, why):
    if not condition:
        raise Unsupported(why)


def prove(condition, why):
    if not condition:
        raise Rejected(why)


# Lines, cells and numbers, of the data and of the certificate.


def lines_of(content):
    lines = [line.rstrip(b"\r") for line in content.rstrip(b"\r\n").split(b"\n")]
    need(lines != [b""] and not any(set(b"\r\0") & set(line) for line in lines), "a file is empty, or not plain lines")
    return lines


def cells(line, separator):
    """The values of a line; quotes stand around whole values, and a quote inside is doubled."""
    cell = re.compile(rb'"((?:[^"]|"")*)"|([^"' + re.escape(separator) + rb"]*)")
    found, at = [], 0
    while True:
        match = cell.match(line, at)
        found.append((match[2] if match[1] is None else match[1].replace(b'""', b'"')).strip(b" \t"))
        at = match.end()
        if at == len(line):
            return found
        need(line[at : at + 1] == separator, "a quote is not closed, or stands inside a value")
        at += 1


def number(token):
    plain = re.fullmatch(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", token)
    need(plain and isfinite(float(token)), "a value of a number column, or a cut, is not a number")
    return float(token)


def scaled(cell, scale):
    """A decimal times the scale, which must be whole."""
    match = re.fullmatch(rb"([+-]?)(\d+)\.?(\d*)", cell)
    need(match and len(match[2] + match[3]) <= 18, "a number is not a decimal of at most 18 digits")
    value, rest = divmod(int(match[2] + match[3]) * scale, 10 ** len(match[3]))
    need(not rest and value <= LIMIT, "a number times its scale is not a whole number that is small enough")
    return -value if match[1] == b"-" else value


def whole(token, least=-LIMIT, most=LIMIT):
    value = scaled(token, 1)
    need(least <= value <= most, "a whole number is out of range")
    return value


class Checker:
    """A statement about the rows of a file. A test t of family f sends rows with rank[f] <= t - first[f] to yes."""

    def __init__(self, data, certificate):
        self.lines, self.at = [cells(line, b" ") for line in lines_of(certificate)], 0
        need(self.take(b"treeml", 2, 2) == [b"certificate", b"2"], "this is not a certificate of version 2")
        separator = self.take(b"separator")[0]
        need(separator in (b",", b";", b"|"), "the separator is not supported")
        table = [cells(line, separator) for line in lines_of(data)]
        need(all(len(row) == len(table[0]) for row in table), "lines of the data do not have equally many values")
        self.names, self.columns = table[0], list(zip(*table[1:], strict=True))
        self.rows = whole(self.take(b"rows")[0], 1, MANY)
        prove(len(table) - 1 == self.rows, f"the data have {len(table) - 1} rows, not {self.rows}")
        self.read_target()
        self.depth = whole(self.take(b"depth")[0], 0, MOST_DEPTH)
        self.leaves = whole(self.take(b"leaves", default=[b"0"])[0], 0, MOST_LEAVES)  # 0: not limited
        self.support = whole(self.take(b"support", default=[b"1"])[0], 1, MANY)
        self.missing = self.take(b"missing", 1, MANY, [])
        self.tests = list(self.each(b"test", 2))
        ranked = [self.ranked(*tokens) for tokens in self.tests]
        self.first = np.cumsum([0] + [size for _, size in ranked])  # test of every family; at the end their number
        need(ranked and max(self.rows * len(ranked), self.first[-1]) <= MOST_CELLS, "there are no tests, or too many")
        self.all_rank = np.array([places for places, _ in ranked])  # families x rows of the data
        self.goals = [self.amount(whole(tokens[0], 1), tokens[1:]) for tokens in self.each(b"goal", 1)]
        required = self.take(b"require", 2, MANY, [])
        self.limit = whole(required[0]) if required else 0
        self.require = [self.amount(whole(required[1], 0), required[2:])] if required else []
        # A requirement with factor 0 is not part of the cost: claims limit how much of it a tree uses, as with leaves.
        self.row_use = bool(self.require) and self.require[0].factor == 0
        self.unit = self.require[0].price if self.row_use else int(self.leaves > 0)  # what a leaf uses
        self.read_claim()
        cost = self.dual if self.claim == b"margin" else self.combined if self.classes else self.squares
        self.all_vector, self.price = cost()
        self.trees = list(self.each(b"tree", 1))
        self.values = [whole(x) for x in self.take(b"value", 1, 8, [])]
        self.merge()

    def take(self, key, least=1, most=1, default=None):
        """The tokens after the key of the next line; the default, if there is one, if it has another key."""
        need(self.at < len(self.lines), "the header ends too early")
        name, *tokens = self.lines[self.at]
        need(name == key or default is not None, f"the line `{key.decode()}` is missing")
        self.at += name == key
        need(name != key or least <= len(tokens) <= most, "a line of the header is too short or too long")
        return tokens if name == key else default

    def each(self, key, least, most=MANY):
        while tokens := self.take(key, least, most, ()):
            yield tokens

    def column(self, name):
        need(self.names.count(name) == 1, "the data do not have exactly one column of a name")
        return self.columns[self.names.index(name)]

    def read_target(self):
        squared = self.take(b"squared", 2, 2, [])
        target = self.column((squared or self.take(b"target"))[0])
        self.targets = [scaled(cell, whole(squared[1], 0)) for cell in target] if squared else []
        words = [] if squared else list(self.each(b"class", 1))
        self.classes = len(words)
        need(squared or self.classes <= 64, "there are more than 64 classes")
        found = np.array([[cell in own for own in words] for cell in target])
        need((found.sum(axis=1) == (not squared)).all(), "a value of the target is not of exactly one class")
        self.label = np.zeros(self.rows, dtype=int) if squared else found.argmax(axis=1)

    def ranked(self, name, kind, *rest):
        """For every row the number of cuts below its value, and the number of cuts."""
        column = self.column(name)
        if kind == b"words":
            need(rest, "a test is not understood")
            return [0 if cell in rest else 1 for cell in column], 1
        missing_yes = rest[-1:] == (b"missing",)
        cuts = [number(x) for x in (rest[:-1] if missing_yes else rest)]
        need(kind == b"cuts" and cuts, "a test is not understood")
        need(all(a < b for a, b in pairwise(cuts)), "cuts are not in rising order")
        place = {cell: bisect_left(cuts, number(cell)) for cell in set(column) - set(self.missing)}
        return [place.get(cell, 0 if missing_yes else len(cuts)) for cell in column], len(cuts)

    def weights(self, tokens):
        """The weights of the rows, by the end of a line: nothing, or a column and a scale."""
        need(not tokens or (len(tokens) == 3 and tokens[0] == b"weight"), "a goal or requirement is not understood")
        weights = [scaled(cell, whole(tokens[2], 0)) for cell in self.column(tokens[1])] if tokens else [1] * self.rows
        return np.array(weights, dtype=object)

    def amount(self, factor, tokens):
        """A sum over rows and leaves: a cost for every row and predicted class, and a price per leaf."""
        price, size, matrix = 0, 0, np.zeros((self.rows, max(1, self.classes)), dtype=object)
        if tokens[:1] == [b"price"] and len(tokens) > 1:
            price, tokens = whole(tokens[1], 0), tokens[2:]
        weights = self.weights(tokens)
        for costs in self.each(b"cost", self.classes, self.classes) if self.classes else ():
            holds = np.ones(self.rows, dtype=bool)
            for column, *words in self.each(b"when", 2):
                holds &= np.array([cell in words for cell in self.column(column)])
            more = weights[holds, None] * np.array([whole(cost) for cost in costs], dtype=object)
            matrix[holds] += more
            size += abs(more).sum()
        size += price * self.rows  # no values of two trees differ by more
        need(size < LIMIT, TOO_LARGE)
        return SimpleNamespace(factor=factor, price=price, weights=weights, matrix=matrix, size=size)

    def read_claim(self):
        self.claim, *stated = self.take(b"claim", 1, 4)
        self.stated = [whole(x) for x in stated]
        kinds = {b"optimal": (0, 1, 8), b"bound": (1, 1, 1), b"infeasible": (0, 0, 0), b"margin": (3, 0, 0)}
        size, fewest, most = kinds.get(self.claim, (-1, 0, 0))
        need(size == len(stated) and fewest <= len(self.goals) <= most, "the claim is not understood")
        plain = self.claim == b"bound" and self.goals[0].factor == 1
        need(self.classes or plain, "the claim about a squared loss is not a plain bound")
        need(not self.require or (self.classes and self.claim != b"margin"), "this cannot have a requirement")
        need(self.claim != b"infeasible" or (self.require and not self.row_use), "nothing is required")
        need(not (self.row_use and self.leaves), "a requirement and leaves cannot both be limited by claims")

    def combined(self):
        """One vector of costs per row, and the price of a leaf. A goal outweighs all later ones."""
        for goal, later in pairwise(self.goals):
            need(goal.factor >= later.factor * (later.size + 1), "the factors of the goals do not fit")
        need(sum(a.factor * a.size for a in self.goals + self.require) < LIMIT, TOO_LARGE)
        price = sum(a.factor * a.price for a in self.goals + self.require)
        return sum(a.factor * a.matrix for a in self.goals + self.require).astype(np.int64), price

    def squares(self):
        """For every row its weight, weight * target and weight * target^2; no constant changes the loss."""
        shifted = np.array([x - sum(self.targets) // self.rows for x in self.targets], dtype=object)
        weight, price = self.goals[0].weights, self.goals[0].price
        need(min(weight) >= 0 and sum(weight) < LIMIT, "a weight is negative, or their sum is too large")
        need(sum(weight * abs(shifted)) < MANY and sum(weight * shifted**2) + price * self.rows < LIMIT, TOO_LARGE)
        return np.stack([weight, weight * shifted, weight * shifted**2], axis=1).astype(np.int64), price

    def dual(self):
        """The dual prices of rows and rival classes make costs: a tree's edge is the sum of all prices - its cost."""
        tokens = self.take(b"forest", 2, MANY)
        self.penalty, self.divisor = whole(tokens[0], 1, MANY), whole(tokens[1], 0, MANY)
        self.counts = self.weights(tokens[2:])
        need(min(self.counts) >= 0 and sum(self.counts) < MANY, "weights of a forest are negative or too large")
        many = self.rows * (self.classes - 1)
        prices = np.array([whole(x, 0) for x in self.take(b"prices", many, many)], dtype=object)
        self.paid, prices = sum(prices), prices.reshape(self.rows, -1)
        need(2 * self.paid < LIMIT, TOO_LARGE)
        self.own = prices.sum(axis=1)
        vector = np.zeros((self.rows, self.classes), dtype=np.int64)
        vector[np.arange(self.classes) != self.label[:, None]] = (prices + self.own[:, None]).ravel()
        return vector, 0

    def merge(self):
        """Rule NORMALIZE: equal rows become one; what its cheapest class costs is unavoidable and goes to the base."""
        self.rank, row, self.count = np.unique(self.all_rank, axis=1, return_inverse=True, return_counts=True)
        use = self.require[0].matrix.astype(np.int64) if self.row_use else np.zeros_like(self.all_vector)
        self.vector = np.zeros((len(self.count), 2, len(use[0])), dtype=np.int64)  # what rows cost and use
        np.add.at(self.vector, row.ravel(), np.stack([self.all_vector, use], axis=1))
        least = self.vector.min(axis=2) * (self.classes > 0)
        self.vector -= least[:, :, None]
        self.loss = self.vector.max(axis=2)  # the most that a row can cost and use
        # Without a least number of rows per leaf, rows that cost and use nothing anywhere do not change a bound.
        kept = self.loss.any(axis=1) | (self.support > 1) | (not self.classes)
        self.rank, self.count, self.vector = self.rank[:, kept], self.count[kept], self.vector[kept]
        self.loss, (self.base, use_base) = self.loss[kept], least.sum(axis=0).tolist()
        self.most = self.limit - use_base if self.row_use else self.leaves  # what a tree may use
        self.deepest = 2 if (np.diff(self.first) == 1).all() else 1  # what is recomputed
        self.bits = (self.rank <= 0).T.astype(np.float64)  # rows x tests, if every family is one test

    def leaf(self, sums):
        """The cost of leaves with these sums, in whole numbers; squares are rounded down."""
        if self.classes:
            return sums.min(axis=-1) + self.price
        weight, total, square = (sums[..., i].astype(np.int64) for i in range(3))
        return square - -(-total * total // np.maximum(weight, 1)) + self.price

    def yes(self, test, rank):
        family = int(np.searchsorted(self.first, test, side="right")) - 1
        return rank[family] <= test - self.first[family]

    def best(self, rows, depth, most):
        """Rule DEPTH2: the least cost of a tree that uses at most `most`; of depth 2 if every family is one test."""
        prove(depth <= self.deepest, "this depth cannot be recomputed")
        index = np.flatnonzero(rows)
        if depth == 2 and not self.row_use and len(index):
            leaves = most if self.unit else 4
            return min(self.best(rows, 1, most), self.pairs(index, leaves))
        return int(self.front(index, depth, most)[1].min(initial=LIMIT))

    def pairs(self, index, leaves):
        """The best of three or four leaves, from the sums of all pairs of tests."""
        x, columns = self.bits[index], [*self.vector[index, 0].T, self.count[index]]
        both = np.stack([x.T @ (x * column[:, None]) for column in columns], axis=-1)
        one = np.stack([column @ x for column in columns], axis=-1)
        total = np.array([column.sum() for column in columns], dtype=np.float64)

        def cell(sums):  # above every other cost where too few rows are
            return np.where(sums[..., -1] < self.support, LIMIT, self.leaf(sums[..., :-1]))

        yes, no, other = cell(one), cell(total - one), one[:, None, :]
        yes_split = (cell(both) + cell(other - both)).min(axis=1, initial=LIMIT)
        no_split = (cell(one - both) + cell(total - other - one + both)).min(axis=1, initial=LIMIT)
        three, four = np.minimum(yes_split + no, yes + no_split), yes_split + no_split
        allowed = [each.min(initial=LIMIT) for each, least in ((three, 3), (four, 4)) if leaves >= least]
        return int(min(allowed, default=LIMIT))

    def front(self, index, depth, most):
        """What trees of this depth use and cost, as two arrays, without trees that others are at least as good as."""
        count, sums, found = self.count[index], self.vector[index], np.zeros((2, 0), dtype=np.int64)
        if self.support > 1 and count.sum() < self.support:
            return found
        found = self.thinned(found, self.leaves_of(sums.sum(axis=0)), most)
        for places, cuts in zip(self.rank[:, index], np.diff(self.first), strict=True) if depth and len(index) else ():
            order = np.argsort(places, kind="stable")
            ends = np.flatnonzero(np.diff(places[order], append=-1))  # the last row on the yes side of every cut
            lines = np.cumsum(count[order])[ends]
            ends = ends[(np.minimum(lines, count.sum() - lines) >= self.support) & (places[order][ends] < cuts)]
            left = np.cumsum(sums[order], axis=0)[ends]
            yes, no = self.leaves_of(left), self.leaves_of(sums.sum(axis=0) - left)
            if depth == 2 and len(ends):
                yes, no = (self.front(index[part], 1, most) for part in (order[: ends[0] + 1], order[ends[0] + 1 :]))
            found = self.thinned(found, yes[..., :, None] + no[..., None, :], most)
        return found

    def leaves_of(self, sums):
        """What leaves with these sums use and cost: one way per class, or only the cheapest if rows use nothing."""
        vector, use = sums[..., 0, :], sums[..., 1, :]
        one = (use[..., :1] + self.unit, self.leaf(vector)[..., None])
        return np.stack((use + self.unit, vector + self.price) if self.row_use else one)

    def thinned(self, found, more, most):
        """Both without those that use too much or are not better than another."""
        use, cost = np.hstack([found, more.reshape(2, -1)])
        order = np.lexsort((cost, use))
        use, cost = use[order], cost[order]
        kept = (use <= most) & (cost < np.minimum.accumulate(np.append(2 * LIMIT, cost))[:-1])
        return np.stack([use[kept], cost[kept]])

    def check_claims(self):
        """Claims: depth, what a tree may use, bound, rows. Each follows from the rows and from earlier claims."""
        many, self.claims = whole(self.take(b"claims")[0], 0), []
        complete = len(self.lines) == self.at + many + 1 and self.lines[-1][0] == b"end"
        prove(complete and many, "there is no claim, or the file does not end after the claims that it states")
        for line in self.lines[self.at : -1]:
            try:
                self.claims.append(self.check_claim([whole(x, 0) for x in line]))
            except Rejected as fault:
                raise Rejected(f"claim {len(self.claims)}: {fault}") from None
        depth, most, bound, packed = self.claims[-1]
        is_root = np.unpackbits(packed, count=len(self.count)).all() and depth >= self.depth and most >= self.most
        prove(is_root, "the last claim is not about all rows, or about smaller trees than the statement")
        return bound + self.base

    def check_claim(self, numbers):
        width = 6 if self.row_use or self.leaves else 4
        prove(len(numbers) > 4 and len(numbers) > 4 + numbers[3], "the line is too short")
        depth, most, bound, length = numbers[:4]
        literals, many, entries = numbers[4 : 4 + length], numbers[4 + length], numbers[5 + length :]
        prove(max(depth, length) <= MOST_DEPTH and max(bound, most) < LIMIT, "a number of the line is out of range")
        prove(len(entries) == width * many, "the line has the wrong length")
        rows, reached = np.ones(len(self.count), dtype=bool), [self.unit] * int(self.first[-1])
        for literal in literals:
            prove(literal < 2 * len(reached), "a test does not exist")
            rows &= self.yes(literal // 2, self.rank) == bool(literal % 2)
        is_split = depth > self.deepest
        prove(self.best(rows, 0 if is_split else depth, most) >= bound, "a leaf, or a tree of depth 2, costs less")
        prove(is_split or not many, "a claim that is recomputed has no entries")
        for at in range(0, len(entries), width):
            low, high, *some, yes, no = entries[at : at + width]
            prove(low <= high < len(reached), "a test does not exist")
            fewest, larger = some or (0, most)  # what the yes side uses
            self.check_entry((depth - 1, bound, rows), (low, high), ((yes, larger), (no, most - fewest)))
            for test in range(low, high + 1):  # a test is covered for all uses below what is reached
                reached[test] = max(reached[test], larger + 1) if fewest <= reached[test] else reached[test]
        if is_split and most >= 2 * self.unit:
            self.check_cover(rows, [each > most - self.unit for each in reached])
        return depth, most, bound, np.packbits(rows)

    def check_entry(self, claim, tests, sides):
        """Rule SPLIT for a range of tests: for the part in one family, the yes side of its first and the no side of
        its last test, because all yes sides in between contain the former and all no sides contain the latter."""
        (depth, bound, rows), (low, high) = claim, tests
        while low <= high:
            family = int(np.searchsorted(self.first, low, side="right")) - 1
            last = min(high, int(self.first[family + 1]) - 1)
            yes, no = rows & self.yes(low, self.rank), rows & ~self.yes(last, self.rank)
            prove(self.support == 1 or not (rows & ~yes & ~no).any(), "cuts of an entry differ, and leaves need rows")
            have = self.evidence(depth, yes, *sides[0])
            have += self.evidence(depth, no, *sides[1]) if have < bound else 0
            prove(have >= bound, f"the two sides of the tests {low} to {last} do not add up to the bound")
            low = last + 1

    def evidence(self, depth, rows, code, most):
        """A bound on these rows: 0 trivial, 1 recomputed, n: claim n - 2 by rule SIMILARITY."""
        if code < 2:
            return self.best(rows, depth, most) if code else self.price
        prove(code - 2 < len(self.claims), "a reference does not point backwards")
        other_depth, other_most, bound, packed = self.claims[code - 2]
        theirs = np.unpackbits(packed, count=len(rows)).astype(bool)
        lost = theirs & ~rows
        less, used = self.loss[lost].sum(axis=0).tolist()
        most = most if self.row_use else min(most, 2**depth)
        prove(other_depth >= depth and other_most >= most + used, "a reference is about smaller trees")
        prove(self.support == 1 or not (rows & ~theirs).any(), "leaves need rows: a reference must be about a superset")
        prove(self.classes or not lost.any(), "with a squared loss, a reference must be about a subset")
        return max(self.price, bound - less)

    def check_cover(self, rows, covered):
        """Every test is covered, or leaves too few rows on one side."""
        for test in np.flatnonzero(~np.array(covered)):
            yes = rows & self.yes(test, self.rank)
            fewest = min(self.count[yes].sum(), self.count[rows & ~yes].sum())
            prove(fewest < self.support, f"test {test} is not covered")

    def route(self, tree):
        """The number of the leaf of every row, and the class of every leaf; the tree must keep the limits."""
        at, labels, leaf = 0, [], np.zeros(self.rows, dtype=int)
        todo = [(np.ones(self.rows, dtype=bool), 0)]
        while todo:
            rows, depth = todo.pop()
            prove(at < len(tree), "a tree cannot be read")
            node, at = whole(tree[at]), at + 1
            prove(-max(1, self.classes) <= node < self.first[-1], "a tree cannot be read")
            if node >= 0:
                prove(depth < self.depth, "a tree is too deep")
                yes = self.yes(node, self.all_rank)
                todo += [(rows & ~yes, depth + 1), (rows & yes, depth + 1)]
                continue
            prove(rows.sum() >= self.support, "a leaf has too few rows")
            leaf[rows] = len(labels)
            labels.append(-1 - node)
            prove(not self.leaves or len(labels) <= self.leaves, "a tree has too many leaves")
        prove(at == len(tree), "a tree cannot be read")
        return leaf, np.array(labels)

    def values_of(self, tree):
        """The value of every goal and of the requirement."""
        leaf, labels = self.route(tree)
        if not self.classes:
            return [sum(int(self.leaf(self.all_vector[leaf == i].sum(axis=0))) for i in range(len(labels)))]
        rows, amounts = np.arange(self.rows), self.goals + self.require
        return [int(a.matrix[rows, labels[leaf]].sum()) + a.price * len(labels) for a in amounts]

    def check_forest(self, proved):
        """The margin of the forest at r, less what rows fall short of it, and the bound of the dual prices."""
        value, bound, r = self.stated
        votes, rows, total = np.zeros((self.rows, self.classes), dtype=np.int64), np.arange(self.rows), 0
        for weight, *tree in self.trees:
            total += whole(weight, 1, MOST_VOTES)
            need(total <= MOST_VOTES, "a whole number is out of range")
            leaf, labels = self.route(tree)
            votes[rows, labels[leaf]] += int(weight)
        own = votes[rows, self.label]
        votes[rows, self.label] = 0
        short = sum(np.maximum(0, r - own + votes.max(axis=1)) * self.counts)
        within = (self.divisor * self.own <= self.penalty * self.paid * self.counts).all()
        paid = self.paid > 0 and total > 0 and not self.own[self.counts == 0].any()
        prove(within and paid, "there is no tree, a price is above its limit, or all are 0")
        enough = abs(r) <= total and value <= r and self.divisor * (r - value) >= self.penalty * short
        prove(enough, "the forest does not have the margin that is stated")
        prove((self.paid - proved) * total <= bound * self.paid, "the claims do not prove the bound on margins")
        return f"the forest has a margin of at least {value} / {total}, and no forest has more than {bound} / {total}"

    def check(self):
        """What was verified, in a sentence."""
        proved, allowed = self.check_claims(), sum(a.factor for a in self.require) * self.limit
        if self.claim == b"margin":
            return self.check_forest(proved)
        alone = len(self.trees) == (self.claim == b"optimal") or (len(self.trees) == 1 and self.claim == b"bound")
        need(alone, "there are too many trees, or none")
        if self.claim == b"infeasible":
            prove(not self.values, "there are values, but no tree")
            prove(proved > allowed, f"the claims prove at least {proved}, which the requirement allows")
            return f"no tree meets the requirement: every tree costs at least {proved}"
        found = self.values_of(self.trees[0]) if self.trees else []
        prove(not found or not self.require or found.pop() <= self.limit, "the tree does not meet the requirement")
        prove(found == self.values, "the tree does not have the values that are stated")
        wanted = sum(a.factor * x for a, x in zip(self.goals, self.stated or found, strict=True))
        # A better tree would stay below by at least the factor of the last goal, because values are whole numbers.
        enough = proved > wanted - self.goals[-1].factor + allowed
        prove(enough, f"the claims prove at least {proved}, which is not enough for the statement")
        if self.claim == b"optimal":
            return f"the tree is optimal: no tree has a smaller value than {', then '.join(map(str, found))}"
        return f"no tree has a value below {self.stated[0]}" + (f"; the tree has {found[0]}" if found else "")

    def scope(self):
        """Which values and trees the statement is about, so that nobody takes it for a stronger one."""
        wrong = np.arange(self.classes) != self.label[:, None]
        errors = self.classes and [(goal.matrix == wrong).all() and not goal.price for goal in self.goals] == [True]
        kind = "margins" if self.claim == b"margin" else "errors" if errors else "costs" if self.classes else "squares"
        name = "".join(chr(x) if 32 <= x < 127 else "?" for x in self.lines[3][1])  # the target
        leaves = f"up to {self.leaves or min(self.rows, 2**self.depth)} leaves of {self.support} rows or more"
        tests = f"{self.first[-1]} tests on {len({name for name, *_ in self.tests})} of {len(self.names)} columns"
        met = ", requirement met" if self.goals and self.require else ""
        return f'({kind} of "{name}", {self.rows} rows; trees of depth {self.depth} with {leaves}, {tests}{met})'


def main(arguments):
    try:
        need(len(arguments) == 2, "use: checker.py data.csv proof.cert.gz, or - for a certificate from standard input")
        data = Path(arguments[0]).read_bytes()
        certificate = sys.stdin.buffer.read() if arguments[1] == "-" else Path(arguments[1]).read_bytes()
        if certificate.startswith(b"\x1f\x8b"):
            certificate = gzip.GzipFile(fileobj=BytesIO(certificate)).read(MANY + 1)
            need(len(certificate) <= MANY, "the certificate is larger than 2 GiB when it is unpacked")
        checker = Checker(data, certificate)
        print("verified:", checker.check(), checker.scope())
        return 0
    except Rejected as fault:
        print("rejected:", fault)
        return 1
    except (Unsupported, OSError, EOFError, MemoryError, zlib.error) as fault:
        print("unsupported:", str(fault) or "not enough memory")
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
