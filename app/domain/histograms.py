"""Times counted in buckets, in a form that adds up over runs and gives percentiles. About: a bucket is 12 % wide."""

import math
from collections.abc import Mapping

PER_DECADE = 20
LAST_BUCKET = 7 * PER_DECADE
"""From 1 ms to 10,000 s; what is shorter or longer counts as those."""


def bucket_of(ms: float) -> int:
    """The bucket that a time in milliseconds falls into."""
    return 0 if ms <= 1 else min(math.ceil(round(math.log10(ms) * PER_DECADE, 9)), LAST_BUCKET)


def upper_ms(bucket: float) -> float:
    """The longest time that falls into the bucket, in milliseconds; half a bucket below it is its middle."""
    return float(10 ** (bucket / PER_DECADE))


def quantile_ms(counts: Mapping[int, int], share: float) -> float | None:
    """The time that so large a share of all took at most, in milliseconds, at most 6 % off; `None` where there is none.

    `share` is 0.5 for the median and 0.95 for p95.
    """
    left = max(1, math.ceil(share * sum(counts.values())))
    for bucket in sorted(counts):
        left -= counts[bucket]
        if left <= 0:
            return upper_ms(max(bucket - 0.5, 0))
    return None
