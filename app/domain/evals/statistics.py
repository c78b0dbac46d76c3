"""Honest figures of few cases, by the standard library alone: shares from 0 to 1, chances from 0 to 1.

The case is what is counted: its repeats are averaged first, they are no new cases.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from statistics import NormalDist, fmean
from typing import NamedTuple

LEVEL = 0.95
ALPHA = 0.05
_QUANTILE = NormalDist().inv_cdf


class Interval(NamedTuple):
    low: float
    high: float


def wilson(passed: int, *, of: int, level: float = LEVEL) -> Interval:
    """Where a pass rate lies (Wilson 1927): anywhere for none, and never in a single point, even where all passed."""
    if not of:
        return Interval(0.0, 1.0)
    z = _z(level)
    share, spread = passed / of, z * z / of
    centre = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return Interval(centre - half, centre + half if passed < of else 1.0)


def sign_test(better: int, worse: int) -> float:
    """The two-sided p of exact McNemar: of the cases that changed, are as many better as worse?"""
    changed = better + worse
    return min(1.0, 2 * sum(math.comb(changed, i) for i in range(min(better, worse) + 1)) / (1 << changed))


class SignFlips:
    """The exact two-sided test of whole-number differences of cases, 0 in the middle: `sign_test` for repeats.

    Takes every way to give the differences a sign as equally likely, and counts those whose sum is as far out as the
    one seen. 1,000 cases take some 5 ms with 3 repeats, 20 ms with 20 steps between worst and best.
    """

    def __init__(self, differences: Sequence[int], *, full: int = 1) -> None:
        """`full` is the difference of a case that changed as much as one can, such as the number of repeats."""
        sizes = sorted(abs(difference) for difference in differences if difference)
        unit = math.gcd(full, *sizes)
        self._full = full // unit
        self._most = (sum(sizes) - abs(sum(differences))) // (2 * unit)
        ways, self._bits = _subsets([size // unit for size in sizes], self._most)
        self._ways = list(accumulate(ways))

    def p(self, further: int = 0) -> float:
        """As if so many further cases had changed fully, in the direction that the sum has."""
        fewer = min(further, self._most // self._full)
        ways = sum(math.comb(further, i) * self._ways[self._most - i * self._full] for i in range(fewer + 1))
        return min(1.0, 2 * ways / (1 << self._bits + further))


_KEPT_BITS, _DROPPED_BITS = 128, 32


def _subsets(sizes: Sequence[int], most: int) -> tuple[list[int], int]:
    """How many subsets of `sizes`, which are sorted, have the sum 0, 1, … `most`; and the bits of how many there are.

    They are the coefficients of a polynomial, side by side in one big number. From 128 sizes on their last bits are
    dropped in turns, which leaves shares of all right to 1e-20.
    """
    width = min(len(sizes), _KEPT_BITS) // 8 + 1
    bound = (1 << 8 * width * (most + 1)) - 1
    kept = int.from_bytes((b"\xff" * (width - _DROPPED_BITS // 8) + bytes(_DROPPED_BITS // 8)) * (most + 1), "little")
    counts, bits = 1, len(sizes)
    for place, size in enumerate(sizes, start=1):
        if size > most:
            break
        counts = (counts + (counts << 8 * width * size)) & bound
        if place >= _KEPT_BITS and not (place - _KEPT_BITS) % _DROPPED_BITS:
            counts, bits = (counts >> _DROPPED_BITS) & kept, bits - _DROPPED_BITS
    packed = counts.to_bytes(width * (most + 1), "little")
    return [int.from_bytes(packed[at : at + width], "little") for at in range(0, len(packed), width)], bits


def paired_interval(differences: Sequence[float], *, level: float = LEVEL) -> Interval:
    """Where the mean of the cases' differences, each from -1 to 1, lies (Bonett and Price 2012).

    One fully better and one fully worse case are added, so it has a width even where nothing changed.
    """
    n = len(differences) + 2
    mean = math.fsum(differences) / n
    variance = (math.fsum(one * one for one in differences) + 2) / n - mean * mean
    half = _z(level) * math.sqrt(variance / n)
    return Interval(max(-1.0, mean - half), min(1.0, mean + half))


def t_interval(values: Sequence[float], *, level: float = LEVEL) -> Interval:
    """Where the mean of at least two values lies, by Student's t; for 30 or more, it is too narrow for fewer."""
    mean, half = fmean(values), t_quantile(0.5 + level / 2, freedom=len(values) - 1) * standard_error(values)
    return Interval(mean - half, mean + half)


def standard_error(values: Sequence[float]) -> float:
    """Of the mean of at least two values."""
    n, mean = len(values), math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / ((n - 1) * n))


def clustered_error(groups: Iterable[Sequence[float]]) -> float:
    """The standard error of the mean of all, where cases of a group, as of one document, go together (Miller 2024)."""
    held = [list(group) for group in groups]
    values = [value for group in held for value in group]
    mean = fmean(values)
    return math.sqrt(math.fsum(math.fsum(value - mean for value in group) ** 2 for group in held)) / len(values)


def t_quantile(share: float, *, freedom: int) -> float:
    """Student's t below which `share`, 0.5 or more, lies; `freedom` is whole."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    t = _QUANTILE(share)  # is below t, from where Newton's steps cannot overshoot
    for _ in range(200):
        density = scale * (1 + t * t / freedom) ** (-(freedom + 1) / 2)
        step = (share - _t_share(t, freedom)) / density
        t += step
        if abs(step) <= 1e-13 * t:
            break
    return t


def _t_share(t: float, freedom: int) -> float:
    """The share below t, by finite sums (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = total = (cosine if odd else 1.0) if freedom > 1 else 0.0
    for j in range(2 + odd, freedom, 2):
        term *= (j - 1) / j * cosine * cosine
        total += term
    return 0.5 + ((angle + sine * total) / math.pi if odd else sine * total / 2)


def chance_better(better: int, worse: int) -> float:
    """The chance that a case that changes is rather better than worse, when any share was as likely before."""
    changed = better + worse + 1
    return sum(math.comb(changed, i) for i in range(better + 1)) / (1 << changed)


def any_of(k: int, *, passed: int, tries: int) -> float:
    """pass@k: the chance that at least one of k tries passes (Chen 2021); k is at most `tries`."""
    return 1 - math.comb(tries - passed, k) / math.comb(tries, k)


def all_of(k: int, *, passed: int, tries: int) -> float:
    """pass^k: the chance that all of k tries pass, as τ-bench has it; k is at most `tries`."""
    return math.comb(passed, k) / math.comb(tries, k)


def holm(ps: Sequence[float]) -> list[float]:
    """The p of several comparisons at once, adjusted so that 5 % stay the chance that any is wrong; as they came."""
    adjusted, highest = [0.0] * len(ps), 0.0
    for place, index in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, (len(ps) - place) * ps[index]))
        adjusted[index] = highest
    return adjusted


def expected_flips(tries: Iterable[tuple[int, int]]) -> float:
    """How many cases differ between two tries of the same variant; of passed and all tries, 2 or more, of each case."""
    return math.fsum(2 * passed * (of - passed) / (of * (of - 1)) for passed, of in tries)


def corrected_rate(judged: float, *, sensitivity: float, specificity: float) -> float:
    """What a pass rate by a judge likely is, given how often the judge is right (Rogan and Gladen 1978)."""
    return min(1.0, max(0.0, (judged + specificity - 1) / (sensitivity + specificity - 1)))


@lru_cache(maxsize=256)
def reach(cases: int, *, worse: float = 0.05, power: float = 0.8) -> float | None:
    """The least net gain, as a share of the cases, that `sign_test` finds at 5 % with this power.

    `worse` is the share that gets worse anyway. `None` where so few cases find no gain at all.
    """
    needed = _least_better(cases)
    low, high = 0.0, 1 - 2 * worse
    if _found(cases, needed, better=1 - worse, worse=worse) < power:
        return None
    for _ in range(20):
        gain = (low + high) / 2
        found = _found(cases, needed, better=worse + gain, worse=worse)
        low, high = (low, gain) if found >= power else (gain, high)
    return high


def _least_better(cases: int) -> list[int]:
    """For 0, 1, … cases that are worse, how many better ones make the sign test clear; as far as there are cases."""
    least: list[int] = []
    better = 0
    while True:
        while better + len(least) <= cases and 2 * _at_most(len(least), better + len(least), 0.5) > ALPHA:
            better += 1
        if better + len(least) > cases:
            return least
        least.append(better)


def _found(cases: int, needed: Sequence[int], *, better: float, worse: float) -> float:
    """The chance that the sign test says better, when cases get better and worse with these chances."""
    chance = min(1.0, better / (1 - worse))
    weights = ((lost, _exactly(lost, cases, worse)) for lost in range(len(needed)))
    return math.fsum(
        weight * (1 - _at_most(needed[lost] - 1, cases - lost, chance)) for lost, weight in weights if weight > 1e-12
    )


def _exactly(k: int, n: int, chance: float) -> float:
    """Of k in n, each with this chance."""
    if chance in (0.0, 1.0):
        return float(k == n * chance)
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(chance) + (n - k) * math.log1p(-chance))


def _at_most(k: int, n: int, chance: float) -> float:
    """Of at most k in n, each with this chance; summed from the nearer end."""
    if k < 0 or k >= n:
        return float(k >= n)
    if k > n * chance:
        return 1 - _at_most(n - k - 1, n, 1 - chance)
    term = total = _exactly(k, n, chance)
    while k and term > 1e-17 * total:
        term *= k * (1 - chance) / ((n - k + 1) * chance)
        total += term
        k -= 1
    return total


def _z(level: float) -> float:
    return _QUANTILE(0.5 + level / 2)
