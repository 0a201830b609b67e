"""Upper bounds on weighted sums of literals -> clauses.

There are two encodings, chosen by size. The generalized totalizer (Joshi, Martins and Manquinho 2015) has an output for
every sum that some of the literals can reach, and propagates fully; it is small if few different sums occur. Otherwise
binary adders count, with one full adder per bit and literal, followed by a comparison with the limit: always small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

import numpy as np
from numpy.typing import NDArray

from treeml.backends.contract import Deadline
from treeml.backends.task.deadline import NO_DEADLINE, in_time

MOST_TOTALIZER = 1_500_000  # clauses
_SECONDS_TO_RELEASE = 1e-7  # per clause: millions of them take a while to be given back
_AT_ONCE = 1 << 16  # clauses that are written between two looks at the clock


class Clauses:
    """Clauses, and the number of the last variable used; adding clauses raises OutOfTime after the deadline."""

    def __init__(self, top: int = 0, deadline: Deadline = NO_DEADLINE) -> None:
        self.top, self.deadline = top, deadline
        self.clauses: list[list[int]] = []
        self.contradiction = False

    def new(self) -> int:
        self.top += 1
        return self.top

    def fresh(self, count: int) -> range:
        first = self.top + 1
        self.top += count
        return range(first, self.top + 1)

    def add(self, *literals: int) -> None:
        self.clauses.append(list(literals))
        if len(self.clauses) % 4096 == 0:
            in_time(self.deadline)

    def extend(self, clauses: Iterable[list[int]]) -> None:
        self.clauses.extend(clauses)
        in_time(Deadline(self.deadline.at - _SECONDS_TO_RELEASE * len(self.clauses)))

    def extend_rows(self, rows: NDArray[np.int64]) -> None:
        """The same for a matrix with one clause per row; a large one is written in parts, so that time is kept."""
        for first in range(0, len(rows), _AT_ONCE):
            self.extend(rows[first : first + _AT_ONCE].tolist())

    def never(self) -> None:
        """Makes the clauses unsatisfiable."""
        self.clauses.append([])
        self.contradiction = True

    def at_most_one(self, literals: Sequence[int]) -> None:
        """At most one of the literals: by pairs if they are few, otherwise by a sequential counter."""
        if len(literals) <= 30:
            for place, one in enumerate(literals):
                for other in literals[place + 1 :]:
                    self.add(-one, -other)
            return
        seen = None
        for literal in literals:
            mark = self.new()
            self.add(-literal, mark)
            if seen is not None:
                self.add(-seen, mark)
                self.add(-seen, -literal)
            seen = mark


def normalized(terms: Iterable[tuple[int, int]], limit: int) -> tuple[list[tuple[int, int]], int]:
    """(weight, literal) with positive weights, each variable once, and the limit that goes with them."""
    weights: dict[int, int] = {}
    for weight, literal in terms:
        variable = abs(literal)
        if literal < 0:
            limit -= weight
            weight = -weight
        weights[variable] = weights.get(variable, 0) + weight
    result = []
    for variable, weight in weights.items():
        if weight > 0:
            result.append((weight, variable))
        elif weight < 0:
            limit -= weight
            result.append((-weight, -variable))
    divisor = gcd(*(weight for weight, _ in result)) if result else 1
    if divisor > 1:
        result = [(weight // divisor, literal) for weight, literal in result]
        limit //= divisor
    return result, limit


def at_most(clauses: Clauses, terms: Iterable[tuple[int, int]], limit: int, condition: Sequence[int] = ()) -> None:
    """sum of weight * literal <= limit, if all literals of `condition` are true."""
    items, limit = normalized(terms, limit)
    unless = [-literal for literal in condition]
    if limit < 0:
        if unless:
            clauses.add(*unless)
        else:
            clauses.never()
        return
    if sum(weight for weight, _ in items) <= limit:
        return
    for weight, literal in items:
        if weight > limit:
            clauses.add(*unless, -literal)
    items = [(weight, literal) for weight, literal in items if weight <= limit]
    if sum(weight for weight, _ in items) <= limit:
        return
    if estimate_totalizer(items, limit) <= MOST_TOTALIZER:
        for total, output in totalizer(clauses, items, limit + 1).items():
            if total > limit:
                clauses.add(*unless, -output)
    else:
        _compare(clauses, _sum_bits(clauses, items), limit, unless)


def estimate_totalizer(items: Sequence[tuple[int, int]], limit: int) -> int:
    """The number of clauses of a totalizer in which all sums beyond the limit share an output."""
    if len({weight for weight, _ in items}) <= 1:
        return _estimate_uniform(len(items), limit // items[0][0] if items else 0)
    kind = np.int64 if limit < 2**61 else object
    level = [np.array([min(weight, limit + 1)], kind) for weight, _ in sorted(items)]
    total = 0
    while len(level) > 1:
        merged = []
        for place in range(0, len(level) - 1, 2):
            left, right = level[place], level[place + 1]
            total += len(left) * len(right) + len(left) + len(right)
            if total > MOST_TOTALIZER:
                return total
            sums = np.minimum(np.add.outer(left, right).ravel(), limit + 1)
            merged.append(np.unique(np.concatenate([left, right, sums])))
        if len(level) % 2:
            merged.append(level[-1])
        level = merged
    return total


def _estimate_uniform(count: int, limit: int) -> int:
    """The same if all weights are one: the sums of n literals are 1 .. n."""
    total, width, parts = 0, 1, count
    while parts > 1:
        size = min(width, limit + 1)
        total += parts // 2 * (size * size + 2 * size)
        width, parts = 2 * width, parts - parts // 2
    return total


def estimate_at_most(terms: Iterable[tuple[int, int]], limit: int) -> int:
    """The approximate number of clauses that `at_most` would add."""
    items, limit = normalized(terms, limit)
    if limit < 0 or sum(weight for weight, _ in items) <= limit:
        return 1
    units = sum(weight > limit for weight, _ in items)
    items = [(weight, literal) for weight, literal in items if weight <= limit]
    if sum(weight for weight, _ in items) <= limit:
        return units
    size = estimate_totalizer(items, limit)
    return size if size <= MOST_TOTALIZER else 14 * sum(max(1, weight.bit_length()) for weight, _ in items)


def totalizer(clauses: Clauses, items: Sequence[tuple[int, int]], cap: int) -> dict[int, int]:
    """sum -> literal that is true if some true literals have this sum; sums of `cap` and more share one."""
    level = [{min(weight, cap): literal} for weight, literal in sorted(items, key=lambda item: item[0])]
    while len(level) > 1:
        merged = []
        for place in range(0, len(level) - 1, 2):
            merged.append(_merge(clauses, level[place], level[place + 1], cap))
        if len(level) % 2:
            merged.append(level[-1])
        level = merged
    return level[0] if level else {}


def _merge(clauses: Clauses, left: dict[int, int], right: dict[int, int], cap: int) -> dict[int, int]:
    sums = sorted(left.keys() | right.keys() | {min(a + b, cap) for a in left for b in right})
    output = dict(zip(sums, clauses.fresh(len(sums)), strict=True))
    for side in (left, right):
        for total, literal in side.items():
            clauses.add(-literal, output[total])
    for a, one in left.items():
        for b, other in right.items():
            clauses.add(-one, -other, output[min(a + b, cap)])
    return output


def _sum_bits(clauses: Clauses, items: Sequence[tuple[int, int]]) -> list[int]:
    """The binary digits of the sum, lowest first, by carry-save adders."""
    columns: list[list[int]] = []
    for weight, literal in items:
        for bit in range(weight.bit_length()):
            if weight >> bit & 1:
                while len(columns) <= bit:
                    columns.append([])
                columns[bit].append(literal)
    digits = []
    place = 0
    while place < len(columns):
        column = columns[place]
        while len(column) > 1:
            if len(columns) <= place + 1:
                columns.append([])
            if len(column) == 2:
                a, b = column.pop(), column.pop()
                digit, carry = clauses.new(), clauses.new()
                for clause in ((-a, -b, carry), (a, -carry), (b, -carry)):
                    clauses.add(*clause)
                for clause in ((-a, b, digit), (a, -b, digit), (a, b, -digit), (-a, -b, -digit)):
                    clauses.add(*clause)
            else:
                a, b, c = column.pop(0), column.pop(0), column.pop(0)
                digit, carry = clauses.new(), clauses.new()
                for x, y in ((a, b), (a, c), (b, c)):
                    clauses.add(-x, -y, carry)
                    clauses.add(x, y, -carry)
                for x in (a, -a):
                    for y in (b, -b):
                        for z in (c, -c):
                            odd = ((x > 0) == (a > 0)) ^ ((y > 0) == (b > 0)) ^ ((z > 0) == (c > 0))
                            clauses.add(-x, -y, -z, digit if odd else -digit)
            column.append(digit)
            columns[place + 1].append(carry)
        digits.append(column[0] if column else 0)
        place += 1
    return digits


def _compare(clauses: Clauses, digits: list[int], limit: int, unless: list[int]) -> None:
    """The binary number is at most the limit: at the highest bit that differs, the limit has the 1."""
    for place, digit in enumerate(digits):
        if digit == 0 or limit >> place & 1:
            continue
        higher = [-digits[k] for k in range(place + 1, len(digits)) if limit >> k & 1 and digits[k]]
        if any(limit >> k & 1 and not digits[k] for k in range(place + 1, len(digits))) or limit >> len(digits):
            continue
        clauses.add(*unless, -digit, *higher)
