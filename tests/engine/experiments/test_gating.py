"""Gates: what holds a variant back, what lets it past, and that there is no other way to activate one."""

import ast
from pathlib import Path

import pytest

import app
from app.domain.agents import Agent, with_variant
from app.domain.errors import Conflict, NotFound, WorkbenchError
from app.domain.evals.cases import CaseContent, DatasetChanges
from app.domain.evals.gates import Gate, GateClosed, GateOutcome
from app.domain.evals.judging.fences import unfenced_parts
from app.domain.evals.scorers import Contains, Exact, Judge, Pairwise
from app.domain.evals.scores import RATING, given
from app.domain.streaming import ModelRequest
from tests.engine.experiments.judges import prefers
from tests.engine.experiments.trials import PAGE, Trials

MUST, MAY = CaseContent(input="must", reference="3", must_pass=True), CaseContent(input="may", reference="3")
CONTAINS = Contains(texts=("3",))


async def gated(trials: Trials, *cases: CaseContent, variants: int = 2, **rules: object) -> Agent:
    agent = await trials.agent(variants=variants)
    await trials.written(*(cases or (MUST, MAY)))
    await trials.bench.collecting.change_dataset(trials.dataset, DatasetChanges(scorers=(CONTAINS,)))
    gate = Gate.model_validate({"dataset_id": trials.dataset, "repeats": 2, **rules})
    return await trials.bench.gating.set(agent.id, gate)


async def run(trials: Trials, agent: Agent, number: int = 2) -> GateOutcome:
    """What the gate says once it was run."""
    experiment = await trials.bench.gating.run(agent.id, number, PAGE)
    await trials.over(experiment.id)
    return await said(trials, agent.id, number)


async def said(trials: Trials, agent_id: str, number: int = 2) -> GateOutcome:
    outcome = await trials.bench.gating.outcome(trials.bench.agents.get(agent_id), number)
    assert outcome is not None
    return outcome


def of_second(request: ModelRequest) -> bool:
    """Whether the second variant asks it: cells are made side by side, in any order."""
    return request.system is not None and "Variant 2" in request.system.text


def failing(trials: Trials, *words: str) -> None:
    """Let the second variant fail where its prompt is asked one of these."""

    def answer(request: ModelRequest) -> str:
        failed = of_second(request) and any(word in request.messages[-1].text for word in words)
        return "No." if failed else "It is 3."

    trials.models.answers = answer


async def test_an_agent_without_a_gate_lets_every_variant_past(trials):
    agent = await trials.agent(variants=2)
    assert (await trials.bench.gating.activate(agent.id, 2, by="page")).active == 2


async def test_a_variant_that_was_not_tried_is_held_back_and_one_that_did_well_is_not(trials):
    agent = await gated(trials)
    with pytest.raises(GateClosed) as held:
        await trials.bench.gating.activate(agent.id, 2, by="page")
    assert (held.value.outcome.state, held.value.code) == ("amber", "gate")
    assert "was not tried beside variant 1" in str(held.value)
    outcome = await run(trials, agent)
    assert (outcome.state, [line.rule for line in outcome.lines]) == ("green", ["fresh", "must_pass", "harm"])
    activated = await trials.bench.gating.activate(agent.id, 2, by="page", override="not needed")
    assert (activated.active, activated.activations[-1].override) == (2, "")


async def test_a_case_that_must_pass_holds_back_and_is_named(trials):
    agent = await gated(trials)
    failing(trials, "must")
    outcome = await run(trials, agent)
    assert outcome.state == "red"
    assert next(line.words for line in outcome.lines if line.rule == "must_pass").endswith("did not: “must”.")


async def test_a_case_that_must_pass_and_does_so_sometimes_is_called_flaky(trials):
    agent = await gated(trials, MUST)
    answers = iter(["It is 3.", "No."])
    trials.models.answers = lambda request: next(answers) if of_second(request) else "It is 3."
    outcome = await run(trials, agent)
    assert outcome.state == "red"
    assert "flaky: passed 1 of 2" in " ".join(outcome.reasons)


async def test_a_case_that_may_fail_alone_is_no_evidence_of_harm_and_many_are(trials):
    agent = await gated(trials)
    failing(trials, "may")
    assert (await run(trials, agent)).state == "green"
    await trials.written(*(CaseContent(input=f"may {number}", reference="3") for number in range(9)))
    outcome = await run(trials, agent)
    assert next(line.state for line in outcome.lines if line.rule == "harm") == "red"


async def test_a_reason_goes_past_and_is_kept_with_what_the_gate_said(trials):
    agent = await gated(trials)
    failing(trials, "must")
    await run(trials, agent)
    activated = await trials.bench.gating.activate(agent.id, 2, by="page", override="  the case is wrong ")
    kept = activated.activations[-1]
    assert (activated.active, kept.variant, kept.override, kept.by) == (2, 2, "the case is wrong", "page")
    assert "did not: “must”" in " ".join(kept.reasons)


async def test_blank_words_are_no_reason(trials):
    agent = await gated(trials)
    with pytest.raises(GateClosed):
        await trials.bench.gating.activate(agent.id, 2, by="page", override=" \n ")


async def test_going_back_is_never_held_back_and_what_was_never_active_is(trials):
    agent = await gated(trials, variants=3)
    await trials.bench.gating.activate(agent.id, 3, by="page", override="urgent")
    assert (await trials.bench.gating.activate(agent.id, 1, by="page")).active == 1
    assert (await trials.bench.gating.activate(agent.id, 3, by="page")).active == 3
    with pytest.raises(GateClosed):
        await trials.bench.gating.activate(agent.id, 2, by="page")


async def test_what_was_shown_does_not_hold_for_other_cases_scorers_repeats_or_tools(trials):
    agent = await gated(trials)
    assert (await run(trials, agent)).state == "green"
    await trials.bench.gating.set(agent.id, agent.gate.model_copy(update={"repeats": 3}))
    assert "the gate asks 3" in " ".join((await said(trials, agent.id)).reasons)
    await trials.bench.gating.set(agent.id, agent.gate)
    assert (await said(trials, agent.id)).state == "green"
    await trials.written("one more")
    assert (await said(trials, agent.id)).state == "amber"
    assert (await run(trials, agent)).state == "green"
    await trials.bench.collecting.change_dataset(trials.dataset, DatasetChanges(scorers=(Exact(),)))
    assert "another scorer" in " ".join((await said(trials, agent.id)).reasons)


async def test_what_was_shown_beside_another_active_variant_does_not_hold(trials):
    agent = await gated(trials, variants=3)
    assert (await run(trials, agent)).state == "green"
    await trials.bench.gating.activate(agent.id, 3, by="page", override="urgent")
    assert (await said(trials, agent.id)).state == "amber"


async def test_errors_are_no_failures_and_let_nothing_past(trials):
    agent = await gated(trials)
    trials.models.answers = lambda request: OSError("down") if "may" in request.messages[-1].text else "It is 3."
    outcome = await run(trials, agent)
    assert (outcome.state, outcome.reasons[0].endswith("Retry the errors, or score again.")) == ("amber", True)


async def test_a_margin_asks_for_proof_and_says_how_many_cases_that_takes(trials):
    agent = await gated(trials, margin=0.1)
    outcome = await run(trials, agent)
    assert outcome.state == "amber"
    assert "takes 22 cases of which none changed, 37 where one got worse" in " ".join(outcome.reasons)


async def test_a_variant_that_costs_more_than_is_let_past_is_held_back(trials):
    agent = await gated(trials, most_cost=0.5)

    def answer(request: ModelRequest) -> str:
        return "It is 3." if request.system is None or "Variant 2" not in request.system.text else "It is 3. " * 50

    trials.models.answers = answer
    outcome = await run(trials, agent)
    costs = {cell.column: cell.cost for cell in trials.bench.cells.of(outcome.experiment_id)}
    assert next(line.state for line in outcome.lines if line.rule == "cost") == (
        "red" if costs[1] > costs[0] else "green"
    )


@pytest.mark.parametrize(
    ("first", "second", "whose"),
    [
        ("fake/model", "fake/unpriced", "variant 2"),
        ("fake/unpriced", "fake/model", "variant 1"),
        ("fake/unpriced", "fake/unpriced", "variant 1 and of variant 2"),
    ],
)
async def test_where_nobody_said_what_a_model_costs_a_ceiling_of_cost_lets_nothing_past_and_says_so(
    trials, first, second, whose
):
    agent = await gated(trials, most_cost=0.1)

    def asking(stored: Agent) -> Agent:
        asked = zip(stored.variants, (first, second), strict=True)
        variants = [
            variant.model_copy(update={"behaviour": variant.behaviour.model_copy(update={"model": model})})
            for variant, model in asked
        ]
        return stored.model_copy(update={"variants": tuple(variants)})

    await trials.bench.agents.change(agent.id, asking)
    trials.models.bills, trials.models.unpriced = False, ("fake/unpriced",)
    outcome = await run(trials, agent)
    assert [(line.rule, line.words) for line in outcome.lines if line.state != "green"] == [
        (
            "cost",
            f"The median cost cannot be told: nobody said what a model of {whose} costs. Choose one with a known "
            "price, or take the ceiling of the cost out of the gate.",
        )
    ]


async def test_a_model_decides_only_once_people_agree_with_it(trials):
    agent = await gated(trials, *(CaseContent(input=f"case {number}") for number in range(40)), repeats=1)
    judge = Judge(model="fake/judge", criteria=("It says 3.",))
    await trials.bench.collecting.change_dataset(trials.dataset, DatasetChanges(scorers=(judge,)))

    def answer(request: ModelRequest) -> str:
        asked = request.messages[-1].text
        if "<<<BEGIN" not in asked:
            return "No." if asked.endswith(tuple("01234")) else "It is 3."
        meets = "no" if "\nNo.\n" in asked else "yes"
        return f'{{"evidence": [], "reasons": "r", "criteria": [{{"criterion": 1, "meets_criterion": "{meets}"}}]}}'

    trials.models.answers, trials.models.bills = answer, False
    outcome = await run(trials, agent)
    assert [line.rule for line in outcome.lines if line.state != "green"] == ["judge"]
    for cell in trials.bench.cells.of(outcome.experiment_id):
        score = given(cell.runs[-1], RATING, PAGE, value=1.0 if cell.end == "passed" else 0.0)
        await trials.bench.scores.give(score)
    assert (await said(trials, agent.id)).state == "green"


async def compared(trials: Trials, *, lost: int, **rules: object) -> GateOutcome:
    """What the gate says where answers are compared, and the second variant gives so many of 20 that are worse."""
    cases = [CaseContent(input=f"case {number}{' lost' * (number < lost)}") for number in range(20)]
    agent = await gated(trials, *cases, repeats=1, **rules)
    pairwise = Pairwise(model="fake/judge", criterion="It says 3.")
    await trials.bench.collecting.change_dataset(trials.dataset, DatasetChanges(scorers=(pairwise,)))

    def answer(request: ModelRequest) -> str:
        asked = request.messages[-1].text
        if "<<<BEGIN" in asked:
            return prefers("second" if "No." in unfenced_parts(asked)[0]["FIRST"] else "first")
        return "No." if of_second(request) and "lost" in asked else "It is 3."

    trials.models.answers, trials.models.bills = answer, False
    return await run(trials, agent)


async def test_a_gate_whose_answers_are_compared_counts_those_of_the_active_variant_as_scored(trials):
    outcome = await compared(trials, lost=1, most_cost=0.5)
    assert [(line.rule, line.state) for line in outcome.lines] == [
        ("fresh", "green"),
        ("must_pass", "green"),
        ("harm", "green"),
        ("cost", "green"),
        ("judge", "amber"),
    ]


async def test_a_variant_whose_answers_lose_too_often_is_held_back(trials):
    outcome = await compared(trials, lost=6, margin=0.1)
    told = {line.rule: line for line in outcome.lines}
    assert told["harm"].state == "red"
    assert told["harm"].words == "Worse than variant 1: 0 better, 6 worse of 20: worse."
    assert "To show 10 points takes 10 cases of which none changed, 18 where one got worse." in told["margin"].words


async def test_while_its_experiment_goes_on_nothing_is_known(trials):
    agent = await gated(trials)
    experiment = await trials.bench.gating.run(agent.id, 2, PAGE)
    outcome = await said(trials, agent.id)
    assert (outcome.state, outcome.running, outcome.experiment_id) == ("amber", True, experiment.id)
    await trials.over(experiment.id)
    assert (await said(trials, agent.id)).running is False


async def test_an_experiment_that_waits_is_to_be_resumed_and_not_run_again(trials):
    agent = await gated(trials, *(CaseContent(input=f"case {number}", reference="3") for number in range(5)))
    outcome = await run(trials, agent)
    assert (outcome.running, outcome.reasons) == (True, ("Its experiment is paused. Resume it.",))


async def test_what_saves_and_activates_saves_all_the_same_where_the_gate_holds_it_back(trials):
    agent = await gated(trials)

    def change(newest: Agent) -> Agent:
        other = newest.active_variant.behaviour.model_copy(update={"system_prompt": "Other."})
        return with_variant(newest.model_copy(update={"description": "changed"}), other, origin=newest.active)

    with pytest.raises(GateClosed) as held:
        await trials.bench.gating.keep(agent.id, change, by="page")
    kept = trials.bench.agents.get(agent.id)
    assert (kept.active, kept.variants[-1].number, kept.description) == (1, held.value.outcome.variant, "changed")
    await trials.bench.gating.set(agent.id, None)
    assert (await trials.bench.gating.keep(agent.id, change, by="page")).active == 4


async def test_a_gate_whose_dataset_is_gone_holds_back_and_says_so(trials):
    agent = await gated(trials)
    await trials.bench.collecting.delete(trials.dataset)
    assert "dataset of this agent's gate is gone" in (await said(trials, agent.id)).reasons[0]


async def test_a_dataset_that_decides_nothing_makes_no_gate(trials):
    agent = await trials.agent()
    await trials.written("one")
    with pytest.raises(WorkbenchError, match="no scorer yet"):
        await trials.bench.gating.set(agent.id, Gate(dataset_id=trials.dataset))
    with pytest.raises(NotFound):
        await trials.bench.gating.set(agent.id, Gate(dataset_id="none"))


async def test_the_active_variant_is_not_tried_beside_itself(trials):
    agent = await gated(trials)
    with pytest.raises(Conflict, match="active already"):
        await trials.bench.gating.run(agent.id, 1, PAGE)


def test_only_the_gate_makes_another_variant_the_active_one():
    """By a walk through the app: nobody else calls `promoted`, and `active` is set by what takes a promotion back.

    One more file says it in a reply, and one of the copy of an agent that goes to another machine.
    """
    folder = Path(app.__file__).parent
    callers, setters = set(), set()
    for path in folder.rglob("*.py"):
        place, text = path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")
        if not any(word in text for word in ("promoted", '"active"')):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "promoted":
                callers.add(place)
            if isinstance(node, ast.Dict) and "active" in _computed(node):
                setters.add(place)
    assert callers == {"engine/experiments/gating.py"}
    undoing = {"domain/agents/agents.py", "ui/tools/give_to_agents.py"}
    assert setters == {"api/mcp/evals.py", "engine/experiments/handing.py", *undoing}


def _computed(literal: ast.Dict) -> set[object]:
    """The keys whose values are not written out."""
    pairs = zip(literal.keys, literal.values, strict=True)
    return {key.value for key, value in pairs if isinstance(key, ast.Constant) and not isinstance(value, ast.Constant)}
