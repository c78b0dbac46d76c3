"""E1: how often two copies of one variant are told better or worse, and how exact the figures behind that are.

Passes leave the exact test well below its 5 %; graded scores use up nearly all of it (4.9 % of 12,000), so that some
rounds of 1,000 are above by chance: their bar is missed where chance does not explain it.
"""

from collections.abc import Callable
from random import Random

from app.domain.evals.statistics import SignFlips, wilson
from app.domain.evals.verdicts import CaseScores, verdict, verdicts
from tests.figures import Figure
from tests.processor import at_work
from tests.tabled_statistics import compared, furthest

EXPERIMENTS = 1000
CASES = 50
PASS_CHANCE = 0.8
MOST_TOLD = 0.05
MOST_OFF = 1e-9
MOST_MS = 100
COLUMNS = 3

Try = Callable[[Random, float], float]
"""The score of one try of a case that passes with this chance."""


def run(experiments: int = EXPERIMENTS) -> list[Figure]:
    return [
        told_apart("1 try a case", experiments, passes, repeats=1),
        told_apart("3 tries a case, all cases unlike", experiments, passes, repeats=3, alike=False),
        told_apart("graded", experiments, grades, repeats=1, alike=False),
        told_apart_among_several(experiments),
        exactness(),
        sign_flip_time("3 repeats", steps=3),
        sign_flip_time("graded", steps=20),
    ]


def passes(random: Random, chance: float) -> float:
    return float(random.random() < chance)


def grades(random: Random, chance: float) -> float:
    return random.betavariate(4 * chance, 4 * (1 - chance))


def column(random: Random, chances: list[float], once: Try, *, repeats: int) -> dict[str, CaseScores]:
    return {
        str(case): CaseScores(scores=tuple(once(random, chance) for _ in range(repeats)))
        for case, chance in enumerate(chances)
    }


def chances_of(random: Random, *, alike: bool) -> list[float]:
    """How often each case passes: as often as all, or in its own way, from hardly ever to nearly always."""
    return [PASS_CHANCE if alike else random.uniform(0.02, 0.98) for _ in range(CASES)]


def told_apart(name: str, experiments: int, once: Try, *, repeats: int, alike: bool = True) -> Figure:
    random, told = Random(50), []
    for _ in range(experiments):
        chances = chances_of(random, alike=alike)
        ours, theirs = (column(random, chances, once, repeats=repeats) for _ in range(2))
        told.append(verdict(ours, theirs, finished=True).verdict)
    wrong = sum(word in ("better", "worse") for word in told)
    said = f"E1 one variant twice, {CASES} cases, {name}: told better or worse"
    return share_told(said, wrong, experiments, by_chance=once is grades)


def told_apart_among_several(experiments: int) -> Figure:
    random, wrong = Random(51), 0
    for _ in range(experiments):
        chances = chances_of(random, alike=True)
        ours = column(random, chances, passes, repeats=1)
        others = {str(at): column(random, chances, passes, repeats=1) for at in range(COLUMNS)}
        wrong += any(each.verdict in ("better", "worse") for each in verdicts(ours, others, finished=True).values())
    return share_told(f"E1 one variant beside {COLUMNS} copies: any told better or worse", wrong, experiments)


def share_told(name: str, wrong: int, experiments: int, *, by_chance: bool = False) -> Figure:
    share = wilson(wrong, of=experiments).low if by_chance else wrong / experiments
    bar = f"<= {MOST_TOLD:.0%}{', give or take chance' if by_chance else ''}"
    return Figure(name, f"{wrong / experiments:.1%} of {experiments}", bar, share <= MOST_TOLD)


def exactness() -> Figure:
    name, off = furthest()
    value = f"{off:.0e} at most off in {len(compared())} values ({name})"
    return Figure("E1 tabled values of the statistics", value, f"<= {MOST_OFF:.0e}", off <= MOST_OFF)


def sign_flip_time(name: str, *, steps: int) -> Figure:
    """Of 1,000 cases that nearly all changed; the best of 5, since the machine has other work too."""
    random, took = Random(52), []
    differences = [random.randint(-steps, steps) for _ in range(1000)]
    for _ in range(5):
        with at_work() as work:
            SignFlips(differences, full=steps).p()
        took.append(work.seconds * 1000)
    figure = f"{min(took):.0f} ms"
    return Figure(f"E1 sign-flip test of 1,000 cases, {name}", figure, f"<= {MOST_MS} ms", min(took) <= MOST_MS)
