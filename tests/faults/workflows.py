"""W1: workflows and walks at random: nodes that begin twice, end twice or not at all, and runs that are stuck."""

from random import Random

from tests.domain.workflows.random_workflows import Walk, random_workflow, told_again
from tests.figures import Figure

WORKFLOWS = 4_000
FAILURES = (0.0, 0.1, 0.4)


def run(workflows: int = WORKFLOWS) -> list[Figure]:
    wrong, otherwise, rounds, ends = list[str](), 0, 0, 0
    for number in range(workflows):
        random = Random(number)
        walk = Walk(random_workflow(random, most=14), random, FAILURES[number % len(FAILURES)])
        wrong += [f"workflow {number}: {one}" for one in walk.go()]
        otherwise += not told_again(walk)
        rounds += len(walk.rounds)
        ends += len(walk.ends)
    told = f"{len(wrong)} of {ends:,} nodes in {rounds:,} rounds of {workflows:,} workflows"
    return [
        Figure("W1 nodes started twice, ended twice or stuck", "; ".join([told, *wrong[:3]]), "0", not wrong),
        Figure("W1 schedules that say something else when told the same", str(otherwise), "0", not otherwise),
    ]
