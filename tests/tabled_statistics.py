"""Values of the statistics of evals as another library (scipy 1.17) and the papers have them, beside ours."""

from app.domain.evals.agreement import Agreement
from app.domain.evals.statistics import (
    SignFlips,
    all_of,
    any_of,
    chance_better,
    clustered_error,
    corrected_rate,
    holm,
    paired_interval,
    sign_test,
    standard_error,
    t_interval,
    t_quantile,
    wilson,
)

OF_THREE = [1, 0, -1, 2, 0, 3, 1, 0, 2, -1, 1, 0]
"""Passes of 3 of one column less those of the baseline, 12 cases."""
SHARES = [difference / 3 for difference in OF_THREE]
GROUPS = [[1.0, 1.0, 0.0], [0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0]]


def changed(better: int, worse: int, *, of: int) -> list[int]:
    """The differences of cases with one try each."""
    return [1] * better + [-1] * worse + [0] * (of - better - worse)


WILSON = {
    (18, 20): (0.6989663547715128, 0.9721335187862319),
    (20, 20): (0.8388748419471808, 1.0),
    (0, 20): (0.0, 0.16112515805281935),
    (45, 50): (0.7863976856252034, 0.9565242350681095),
    (7, 10): (0.39677814746114526, 0.892208732593699),
}
SIGNS = {
    (5, 0): 0.0625,
    (6, 0): 0.03125,
    (7, 1): 0.0703125,
    (8, 2): 0.109375,
    (9, 3): 0.14599609375,
    (12, 4): 0.076812744140625,
    (15, 5): 0.04138946533203125,
    (1, 8): 0.0390625,
    (3, 3): 1.0,
    (0, 0): 1.0,
}
BETTER = {(8, 2): 0.96728515625, (6, 0): 0.9921875, (12, 4): 0.9754791259765625, (3, 3): 0.5}
PAIRED = {
    (8, 2, 20): (-0.014074276724051427, 0.5595288221785968),
    (6, 0, 20): (0.047988457191938894, 0.4974660882626065),
    (5, 0, 20): (0.011543531257693584, 0.44300192328776095),
    (0, 0, 20): (-0.12599125675906162, 0.12599125675906162),
    (12, 4, 50): (-0.0005019569145013059, 0.308194264606809),
    (1, 3, 50): (-0.1301930255007467, 0.053269948577669785),
    (0, 0, 100): (-0.027174584791170152, 0.027174584791170152),
}
STUDENT = {
    1: 12.706204736174694,
    2: 4.302652729749462,
    9: 2.262157162798205,
    19: 2.0930240544083087,
    49: 2.0095752371292392,
}
KAPPA = {
    (40, 9, 6, 45): (0.6995192307692307, 0.7007481296758106),
    (85, 5, 5, 5): (0.4444444444444447, 0.8780487804878049),
    (27, 2, 1, 0): (-0.04651162790697707, 0.8895027624309393),
}


def compared() -> dict[str, tuple[float, float]]:
    """Ours and theirs, by what it is."""
    found: dict[str, tuple[float, float]] = {}

    def note(name: str, ours: tuple[float, ...], theirs: tuple[float, ...]) -> None:
        found.update({f"{name} ({at})": pair for at, pair in enumerate(zip(ours, theirs, strict=True))})

    for (passed, of), theirs in WILSON.items():
        note(f"wilson {passed}/{of}", wilson(passed, of=of), theirs)
    for (better, worse), p in SIGNS.items():
        flips = SignFlips(changed(better, worse, of=20)).p()
        note(f"sign test {better}:{worse}", (sign_test(better, worse), flips), (p, p))
    for (better, worse), chance in BETTER.items():
        note(f"chance better {better}:{worse}", (chance_better(better, worse),), (chance,))
    for (better, worse, of), theirs in PAIRED.items():
        note(f"paired {better}:{worse} of {of}", paired_interval(changed(better, worse, of=of)), theirs)
    for freedom, t in STUDENT.items():
        note(f"t of {freedom}", (t_quantile(0.975, freedom=freedom),), (t,))
    for cells, theirs in KAPPA.items():
        of = agreement_of(cells)
        note(f"kappa and AC1 {cells}", (of.kappa or 0.0, of.ac1 or 0.0), theirs)
    note("sign flips of 12 × 3", (SignFlips(OF_THREE, full=3).p(),), (0.140625,))
    note(
        "standard error", (standard_error(SHARES), clustered_error(GROUPS)), (0.11844484241978358, 0.17204650534085256)
    )
    note("t interval", t_interval(SHARES), (-0.038473118233114056, 0.4829175626775585))
    passes = (any_of(3, passed=5, tries=8), all_of(3, passed=5, tries=8), all_of(5, passed=5, tries=8))
    note("pass@3, pass^3, pass^5", passes, (0.9821428571428571, 0.1785714285714286, 0.017857142857142853))
    note("Holm", tuple(holm([0.01, 0.04, 0.03])), (0.03, 0.06, 0.06))
    note("Rogan-Gladen", (corrected_rate(0.8, sensitivity=0.9, specificity=0.75),), (0.55 / 0.65,))
    return found


def agreement_of(cells: tuple[int, int, int, int]) -> Agreement:
    both, only_judge, only_person, neither = cells
    return Agreement(both=both, only_judge=only_judge, only_person=only_person, neither=neither)


def furthest() -> tuple[str, float]:
    """The value that differs most, and by how much."""
    return max(((name, abs(ours - theirs)) for name, (ours, theirs) in compared().items()), key=lambda item: item[1])
