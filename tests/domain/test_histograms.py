"""Times in buckets."""

from collections import Counter
from random import Random

from app.domain.histograms import LAST_BUCKET, bucket_of, quantile_ms


def test_a_percentile_is_at_most_six_percent_off():
    chance = Random(1)
    times = sorted(chance.lognormvariate(7, 1.5) for _ in range(2000))
    counts = Counter(map(bucket_of, times))
    for share in (0.5, 0.95, 0.99):
        exact = times[int(share * len(times)) - 1]
        told = quantile_ms(counts, share)
        assert told is not None
        assert abs(told / exact - 1) < 0.061


def test_what_is_out_of_range_counts_at_its_ends():
    assert (bucket_of(0), bucket_of(1), bucket_of(10), bucket_of(1e12)) == (0, 0, 20, LAST_BUCKET)
    assert quantile_ms({}, 0.5) is None
    assert quantile_ms({0: 1}, 0.5) == 1.0
