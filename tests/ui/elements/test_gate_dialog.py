"""What running a gate costs, as its dialog says it."""

import pytest

from app.domain.evals.drafts import Estimate
from app.ui.elements.gate_dialog import price_words

ESTIMATE = Estimate(
    cells=8, low_usd=0.0, high_usd=0.0, judge_low_usd=0.0, judge_high_usd=0.0, pilot=False, reach="with 4 cases"
)


@pytest.mark.parametrize(
    ("changes", "ceiling", "words"),
    [
        ({"high_usd": 0.5}, 1, "about $0.50 at most; it stops at $1.00."),
        ({"high_usd": 0.5, "judge_high_usd": 0.25}, 0, "about $0.75 at most; it has no ceiling."),
        ({"high_usd": 0.00002}, 0.004, "about < $0.0001 at most; it stops at $0.0040."),
        ({"high_usd": None}, 1, "what that costs is not known; it stops at $1.00."),
        ({"judge_high_usd": None}, 1, "what that costs is not known; it stops at $1.00."),
        ({"notes": ("Tools answer from the record.",)}, 0,
         "about $0.00 at most; it has no ceiling. Tools answer from the record."),
    ],
)  # fmt: skip
def test_what_a_gate_costs_and_where_it_stops(changes: dict[str, object], ceiling: float, words: str):
    told = price_words(ESTIMATE.model_copy(update=changes), ceiling)
    assert told == f"Running it takes 8 tries, {words}"
