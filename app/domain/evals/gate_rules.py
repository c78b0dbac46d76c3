"""What the gate of an agent says of a variant, out of one experiment in which it was tried beside the active one."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.domain.agents import Agent, model_of
from app.domain.evals.cases import Case, Dataset
from app.domain.evals.experiments import Cell, CellKey, Experiment, ExperimentStatus, Plan, cell_id
from app.domain.evals.gates import Gate, GateLine, GateOutcome, GateState, Rule
from app.domain.evals.results import Cells, percentile, scores_of, value_of
from app.domain.evals.scorers import NEEDS_MODEL, Scorer, span_of
from app.domain.evals.statistics import paired_interval, reach
from app.domain.evals.verdicts import FEWEST_CASES_WITH_REACH, MOST_ERRORS, UNEVEN, Verdict, in_points, verdict

MOST_NAMED = 3
"""Cases that are named in a line."""
MOST_NEEDED = 20_000
"""Cases that are looked for at most."""
GOING_ON: tuple[ExperimentStatus, ...] = ("planned", "running")
WAITING: tuple[ExperimentStatus, ...] = ("paused", "interrupted")
RUN_IT = "Run the gate."
UNTRIED = "Variant {number} was not tried beside variant {active} on {dataset!r} yet. " + RUN_IT
UNCALIBRATED = (
    "A model decides here, and nobody compared it with what people say often enough to let it. Review its verdicts, "
    "or choose a scorer that needs no model."
)
UNPRICED = (
    "The median cost cannot be told: nobody said what a model of {whose} costs. Choose one with a known price, or take "
    "the ceiling of the cost out of the gate."
)


@dataclass(frozen=True)
class Asked:
    """What the gate is asked, and how things stand now."""

    agent: Agent
    gate: Gate
    number: int
    dataset: Dataset
    tools: Mapping[str, str]
    """By tool of both variants: the digest of its spec."""
    trusted: bool = True
    """Whether the scorer that decides may: a judge only once it agrees with people."""

    @property
    def deciding(self) -> Scorer | None:
        """The scorer that decides; `None` where the dataset has none of that name."""
        return self.dataset.decided_by(self.gate.primary)


def fits(asked: Asked, plan: Plan) -> int | None:
    """The column in which the plan tries the variant beside the active one; `None` where it does not."""
    own = {n: model_of(asked.agent.variant(n).behaviour) for n in (asked.agent.active, asked.number)}
    plain = [
        column.variant
        if not (column.as_recorded or column.agent_id)
        and column.tried is None
        and column.model in ("", own.get(column.variant))
        else None
        for column in plan.columns
    ]
    if plain[0] != asked.agent.active or asked.number not in plain[1:]:
        return None
    return plain.index(asked.number, 1)


def stale(asked: Asked, experiment: Experiment) -> list[str]:
    """Why what the experiment shows does not hold for how things stand now; empty where it does."""
    plan, gate, dataset, scorer = experiment.plan, asked.gate, asked.dataset, asked.deciding
    if experiment.status in WAITING:
        return [f"Its experiment is {experiment.status}. Resume it."]
    if experiment.status != "completed":
        return [f"Its experiment is {experiment.status}. {'' if experiment.status in GOING_ON else RUN_IT}".strip()]
    found = []
    if plan.dataset_version != dataset.version:
        found.append(
            f"Its experiment ran on version {plan.dataset_version} of {dataset.name!r}, now {dataset.version}."
        )
    if plan.repeats < gate.repeats:
        found.append(f"Its experiment tried each case {plan.repeats} times; the gate asks {gate.repeats}.")
    if scorer is None or plan.deciding != scorer.name or plan.scorer(scorer.name) != scorer:
        found.append("Its experiment was decided by another scorer.")
    if other := sorted(name for name, digest in asked.tools.items() if plan.tool_digests.get(name) != digest):
        found.append(f"Tools changed since its experiment: {', '.join(other[:MOST_NAMED])}.")
    return [*found, RUN_IT] if found else []


def untold(asked: Asked, *reasons: str, experiment: Experiment | None = None) -> GateOutcome:
    """Nothing can be told yet."""
    words = UNTRIED.format(number=asked.number, active=asked.agent.active, dataset=asked.dataset.name)
    told = " ".join(reasons) if reasons else words
    return GateOutcome(
        variant=asked.number,
        against=asked.agent.active,
        lines=(GateLine(rule="fresh", state="amber", words=told),),
        experiment_id=experiment.id if experiment else "",
        running=experiment is not None and experiment.status in (*GOING_ON, *WAITING),
    )


def judged(
    asked: Asked,
    experiment: Experiment,
    column: int,
    cells: Sequence[Cell],
    cases: Mapping[str, Case],
    *,
    tries: int = 1,
) -> GateOutcome:
    """What each rule says, by an experiment that is not `stale`; may take 100 ms for many cases.

    `tries` is how many experiments of these two there are; the newest one counts.
    """
    tried = _Tried(asked, experiment, column, {cell.id: cell for cell in cells}, cases)
    lines = (tried.fresh(tries), tried.must_pass(), tried.harm(), *tried.on_request())
    return GateOutcome(variant=asked.number, against=asked.agent.active, lines=lines, experiment_id=experiment.id)


@dataclass(frozen=True)
class _Tried:
    asked: Asked
    experiment: Experiment
    column: int
    known: Cells
    cases: Mapping[str, Case]

    def fresh(self, tries: int) -> GateLine:
        """Whether enough of it ended in an answer that was scored."""
        each = len(self.experiment.plan.case_ids) * self.experiment.plan.repeats
        ours, theirs = (each - len(self._answered(column)) for column in (0, self.column))
        cells = 2 * each
        version = f"Tried on version {self.experiment.plan.dataset_version} of {self.asked.dataset.name!r}"
        if ours + theirs > MOST_ERRORS * cells or abs(ours - theirs) >= UNEVEN:
            words = f"{version}: {ours + theirs} of {cells} tries were not scored. Retry the errors, or score again."
            return _line("fresh", "amber", words)
        newest = f" {tries} experiments tried it; the newest counts." if tries > 1 else ""
        return _line("fresh", "green", f"{version}, {cells} tries.{newest}")

    def _cells(self, column: int) -> Iterator[Cell | None]:
        for case_id in self.experiment.plan.case_ids:
            yield from self._repeats(case_id, column)

    def _repeats(self, case_id: str, column: int) -> list[Cell | None]:
        keys = (CellKey(case_id, column, repeat) for repeat in range(self.experiment.plan.repeats))
        return [self.known.get(cell_id(self.experiment.id, key)) for key in keys]

    def must_pass(self) -> GateLine:
        must = [case_id for case_id in self.experiment.plan.case_ids if self.cases[case_id].must_pass]
        if not must:
            return _line("must_pass", "green", "No case must pass.")
        ends = {
            case_id: [cell.end if cell else None for cell in self._repeats(case_id, self.column)] for case_id in must
        }
        broken = [case_id for case_id in must if "failed" in ends[case_id]]
        if broken:
            named = "; ".join(self._named(case_id, ends[case_id]) for case_id in broken[:MOST_NAMED])
            more = f" and {len(broken) - MOST_NAMED} more" if len(broken) > MOST_NAMED else ""
            return _line(
                "must_pass", "red", f"{len(broken)} of {len(must)} cases that must pass did not: {named}{more}."
            )
        if left := [case_id for case_id in must if set(ends[case_id]) != {"passed"}]:
            return _line("must_pass", "amber", f"{len(left)} cases that must pass were not scored in all their tries.")
        return _line("must_pass", "green", f"All {len(must)} cases that must pass did, each time.")

    def _named(self, case_id: str, ends: Sequence[str | None]) -> str:
        flaky = f" (flaky: passed {ends.count('passed')} of {len(ends)})" if "passed" in ends else ""
        headline = self.cases[case_id].headline
        return f"“{headline[:60]}{'…' if len(headline) > 60 else ''}”{flaky}"

    def harm(self) -> GateLine:
        told = self._verdict(None)
        if told.verdict == "worse":
            return _line("harm", "red", f"Worse than variant {self.asked.agent.active}: {told.words}.")
        return _line("harm", "green", f"No sign that it is worse: {told.words}. {stops_words(told.n, span=self._span)}")

    def _verdict(self, margin: float | None) -> Verdict:
        ours, theirs = (scores_of(self.experiment, self.known, column) for column in (0, self.column))
        return verdict(ours, theirs, finished=True, margin=margin, span=self._span)

    @property
    def _span(self) -> float:
        return span_of(self.asked.deciding)

    def on_request(self) -> Iterator[GateLine]:
        """What only some gates ask."""
        gate, scorer = self.asked.gate, self.asked.deciding
        if gate.margin is not None:
            told = self._verdict(gate.margin)
            shown = told.verdict in ("better", "no worse")
            needs = "" if shown else f" {needs_words(gate.margin, span=self._span)}"
            yield _line(
                "margin",
                "green" if shown else "amber",
                f"No worse than {in_points(gate.margin)} points: {told.words}.{needs}",
            )
        if gate.most_cost is not None:
            yield self._ceiling("cost", gate.most_cost)
        if gate.most_latency is not None:
            yield self._ceiling("latency", gate.most_latency)
        if scorer is not None and scorer.type in NEEDS_MODEL and not self.asked.trusted:
            yield _line("judge", "amber", UNCALIBRATED)

    def _ceiling(self, rule: Rule, most: float) -> GateLine:
        before, after = (self._figure(rule, column) for column in (0, self.column))
        what = "The median cost" if rule == "cost" else "The time of 95 % of answers"
        if before is None or after is None:
            return _line(rule, "amber", f"{what} cannot be told: nothing was answered.")
        if rule == "cost" and (unpriced := [column for column in (0, self.column) if self._is_unpriced(column)]):
            return _line(rule, "amber", self._unpriced_words(unpriced))
        shown = [f"${one:.4f}" if rule == "cost" else f"{one / 1000:.1f} s" for one in (before, after)]
        over = after > before * (1 + most)
        rose = f"{what} went from {shown[0]} to {shown[1]}; {most:.0%} more is let past."
        return _line(rule, "red" if over else "green", rose)

    def _figure(self, rule: Rule, column: int) -> float | None:
        answered = self._answered(column)
        if rule == "latency":
            return percentile(sorted(cell.ms for cell in answered), 0.95)
        return statistics.median(cell.cost for cell in answered) if answered else None

    def _answered(self, column: int) -> list[Cell]:
        """Those that have a score; a baseline that answers are compared with has one without being judged."""
        begun = (cell for cell in self._cells(column) if cell is not None)
        return [cell for cell in begun if value_of(cell, self.experiment.plan) is not None]

    def _is_unpriced(self, column: int) -> bool:
        return any(cell.unpriced for cell in self._answered(column))

    def _unpriced_words(self, columns: Sequence[int]) -> str:
        whose = " and of ".join(self.experiment.plan.columns[column].words for column in columns)
        return UNPRICED.format(whose=whose)


def _line(rule: Rule, state: GateState, words: str) -> GateLine:
    return GateLine(rule=rule, state=state, words=words)


def stops_words(cases: int, *, span: float = 1.0) -> str:
    """Which loss so many cases would notice, said when a gate is set and beside what it says; `span` as `span_of`."""
    drop = reach(cases)
    if drop is None:
        return f"So few cases notice no loss reliably; it takes {FEWEST_CASES_WITH_REACH} at least."
    return f"{cases} cases notice a loss of about {in_points(span * drop)} points or more."


def needs_words(margin: float, *, span: float = 1.0) -> str:
    """How many cases it takes to show that a variant is no worse than that, said when it is asked for."""
    unchanged, one_worse = (cases_needed(margin / span, worse=worse) for worse in (0, 1))
    points = in_points(margin)
    return f"To show {points} points takes {unchanged} cases of which none changed, {one_worse} where one got worse."


def cases_needed(margin: float, *, worse: int = 0) -> int:
    """The fewest cases that show that a variant is no worse by the margin, when so many got worse and none better."""
    low, high = max(1, worse), MOST_NEEDED
    while low < high:
        middle = (low + high) // 2
        differences = [-1.0] * worse + [0.0] * (middle - worse)
        low, high = (low, middle) if paired_interval(differences, level=0.9).low > -margin else (middle + 1, high)
    return low
