"""What makes agents better over MCP, as far as who asks may: runs, cases, experiments, variants that are proposed."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from mcp_types import CallToolResult
from pydantic import JsonValue

from app.api.door.access import agent_for, experiment_for, may_only, may_vary, run_for, runs_of
from app.api.door.caller import Caller
from app.api.following.run_replies import RunSummary, run_detail
from app.api.following.running import beginning_of, runs_below
from app.api.mcp.answers import told_of
from app.api.mcp.eval_tools import (
    TAKES,
    Arguments,
    GetExperiment,
    MakeCase,
    ProposeVariant,
    ReadRun,
    SearchRuns,
    StartExperiment,
)
from app.domain.agents import PromptBehaviour, by_prompt, with_variant
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.experiments import Cell, CellState, Experiment
from app.domain.prompts import declared, variables_of
from app.domain.trace import RunFilter, RunRow
from app.workbench import Workbench

Told = dict[str, JsonValue]
HEAD = 500
"""Characters of a text in a list."""
NEXT = "get_experiment with this experiment_id tells what came of it."
NOT_ACTIVE = (
    "It is saved and not active. Try it beside the active one with start_experiment; a person makes it active, on the "
    "agent's page."
)
DROPPED = "The prompt does not name {names} any more, which the variant that it was made from does."


@dataclass
class Evaluating:
    """Answers the tools of `eval_tools`."""

    workbench: Workbench

    async def answer(self, caller: Caller, name: str, arguments: Mapping[str, JsonValue]) -> CallToolResult:
        """Raises `ValidationError` for what does not fit, and `WorkbenchError`, such as `Forbidden`."""
        return told_of(await self._answered(caller, TAKES[name].model_validate(arguments)))

    async def _answered(self, caller: Caller, asked: Arguments) -> Told:
        match asked:
            case SearchRuns():
                return await self._search(caller, asked)
            case ReadRun():
                return await self._read(caller, asked)
            case MakeCase():
                return await self._make_case(caller, asked)
            case StartExperiment():
                return await self._start(caller, asked)
            case GetExperiment():
                return await self._get(caller, asked)
            case ProposeVariant():
                return await self._propose(caller, asked)
            case _:
                raise TypeError(f"Nothing answers {asked!r}")

    async def _search(self, caller: Caller, asked: SearchRuns) -> Told:
        may_only(caller, "evals", "search runs with a tool")
        same = asked.model_dump(include={"text", "status", "rating", "noted", "behind"})
        agent = agent_for(self.workbench, caller, asked.agent).slug if asked.agent else ""
        wanted = RunFilter.model_validate({**same, "agent": agent, "of_key": runs_of(self.workbench, caller)})
        page = await self.workbench.runs.lists.page(wanted, offset=asked.offset, limit=asked.limit)
        return {"runs": [self._row(row) for row in page.rows], "count": page.total}

    def _row(self, row: RunRow) -> JsonValue:
        told = RunSummary.of(row).model_dump(mode="json", exclude={"agent_id", "follows", "trigger", "session_id"})
        return {**told, "answer": row.answer or "", "said": self._said(row.run_id)}

    def _said(self, run_id: str) -> JsonValue:
        """What people said of the run."""
        marks = self.workbench.scores.marks(run_id)
        return {"rating": marks.rating, "tags": list(marks.tags), "notes": list(marks.notes)}

    async def _read(self, caller: Caller, asked: ReadRun) -> Told:
        run_for(self.workbench, caller, asked.run_id)
        may_only(caller, "evals", "read runs with a tool")
        alive = self.workbench.runs.is_taken(asked.run_id)
        entries = tuple((await self.workbench.runs.trace(asked.run_id)).entries)
        started = beginning_of(asked.run_id, entries)
        below = runs_below(self.workbench, asked.run_id, entries)
        detail = await asyncio.to_thread(run_detail, entries, alive=alive, below=below)
        told: Told = detail.model_dump(mode="json", exclude={"agent_id", "follows", "trigger", "calls", "output"})
        told["system_prompt"] = started.system.text if started.system else ""
        cut: Told = {name: _cut(value, asked.longest) for name, value in told.items()}
        return {**cut, "said": self._said(asked.run_id)}

    async def _make_case(self, caller: Caller, asked: MakeCase) -> Told:
        run_for(self.workbench, caller, asked.run_id)
        may_only(caller, "evals", "make cases")
        collecting, datasets = self.workbench.collecting, self.workbench.datasets
        if asked.new_dataset:
            dataset = await collecting.new_dataset(asked.dataset)
        else:
            dataset = datasets.by_slug(asked.dataset)
        case = await collecting.from_run(dataset.id, asked.run_id, step=asked.step, note=asked.note)
        changes: dict[str, object] = {"must_pass": asked.must_pass, "tags": (*case.tags, *asked.own_tags)}
        if asked.reference is not None:
            changes["reference"] = asked.reference
        case = await collecting.change_case(case.model_copy(update=changes), seen=case)
        kept = {"case_id": case.id, "dataset": dataset.slug, "reference": _cut(case.reference, HEAD)}
        return {**kept, "recorded": bool(case.record), "cases": self.workbench.cases.count(dataset.id)}

    async def _start(self, caller: Caller, asked: StartExperiment) -> Told:
        agent = agent_for(self.workbench, caller, asked.agent)
        may_only(caller, "evals", "run experiments")
        for variant in asked.variants:
            may_vary(caller, agent, variant=variant)
        for model in asked.models:
            may_vary(caller, agent, model=model)
        others = [agent_for(self.workbench, caller, named).id for named in asked.beside]
        draft = ExperimentDraft.model_validate({**asked.model_dump(), "agent": agent.id, "beside": others})
        experimenting = self.workbench.experimenting
        estimate = await experimenting.estimate(draft)
        planned = await experimenting.plan(draft, caller.trigger)
        await experimenting.start(planned.id)
        told: Told = {"experiment_id": planned.id, "next": NEXT}
        return {**told, "estimate": estimate.model_dump(mode="json"), **await self._stands(planned)}

    async def _get(self, caller: Caller, asked: GetExperiment) -> Told:
        experiment = experiment_for(self.workbench, caller, asked.experiment_id)
        may_only(caller, "evals", "read experiments with a tool")
        experimenting = self.workbench.experimenting
        if asked.wait:
            await asyncio.wait([asyncio.ensure_future(experimenting.ended(experiment.id))], timeout=asked.wait)
        stands = await self._stands(experiment)  # before what came of it: one that is over has its verdicts
        results = await experimenting.results(experiment.id)
        columns: list[JsonValue] = [
            {"words": one.column.words, **one.model_dump(mode="json", exclude={"column"})} for one in results.columns
        ]
        verdicts: list[JsonValue] = [
            {"of": results.columns[one.column].column.words, **one.verdict.model_dump(mode="json")}
            for one in results.verdicts
        ]
        told: Told = {**stands, "columns": columns, "verdicts": verdicts}
        cells = {ends: await self._cells(experiment, ends, asked.cells) for ends in ("failed", "error")}
        return {**told, "noise": results.noise, "failed": cells["failed"], "errors": cells["error"]}

    async def _stands(self, experiment: Experiment) -> Told:
        plan, progress = experiment.plan, await self.workbench.experimenting.progress(experiment.id)
        named: Told = {"dataset": plan.dataset_slug, "dataset_version": plan.dataset_version, "agent": plan.agent_slug}
        counts: Told = {"cells": progress.total, "ended": progress.ended, "cost_usd": progress.cost}
        return {**named, "status": progress.status, "why": progress.why, **counts}

    async def _cells(self, experiment: Experiment, only: CellState, most: int) -> JsonValue:
        if not most:
            return []
        cells, _ = await self.workbench.experimenting.cells(experiment.id, only=only, limit=most)
        cases = await self.workbench.collecting.cases_of(experiment.plan.cases)
        return [
            {"input": _cut(cases[cell.case_id].input, HEAD), **_cell(experiment, cell)}
            for cell in cells
            if cell.case_id in cases
        ]

    async def _propose(self, caller: Caller, asked: ProposeVariant) -> Told:
        agent = agent_for(self.workbench, caller, asked.agent)
        may_only(caller, "evals", "propose variants")
        origin = agent.variant(asked.origin or agent.active)
        before = by_prompt(origin.behaviour)
        behaviour = _proposed(before, asked)
        if behaviour.model != before.model:
            await self.workbench.models.check(behaviour.model)
        stored = await self.workbench.agents.change(
            agent.id, lambda newest: with_variant(newest, behaviour, origin=origin.number, note=asked.reason)
        )
        made = stored.variants[-1]
        gone = set(variables_of(before.system_prompt)) - set(variables_of(behaviour.system_prompt))
        notes = [DROPPED.format(names=", ".join(sorted(gone)))] if gone else []
        notes += await self.workbench.models.doubts(behaviour.model)
        return {
            "agent": agent.slug,
            "variant": made.number,
            "active": stored.active,
            "next": NOT_ACTIVE,
            "notes": [*notes],
        }


def _proposed(before: PromptBehaviour, asked: ProposeVariant) -> PromptBehaviour:
    changes: dict[str, object] = {}
    if asked.system_prompt is not None:
        changes["system_prompt"] = asked.system_prompt
        changes["variables"] = declared(asked.system_prompt, before.variables)
    if asked.model is not None:
        changes["model"] = asked.model
    if asked.temperature is not None:
        changes["parameters"] = before.parameters.model_copy(update={"temperature": asked.temperature})
    return before.model_copy(update=changes)


def _cell(experiment: Experiment, cell: Cell) -> Told:
    told: Told = {"column": experiment.plan.columns[cell.column].words, "repeat": cell.repeat, "why": cell.why}
    scores: list[JsonValue] = [
        score.model_dump(mode="json", include={"name", "value", "reason"}) for score in cell.scores
    ]
    return {**told, "answer": cell.answer, "scores": _cut(scores, HEAD), "runs": list(cell.runs)}


def _cut(value: JsonValue, longest: int) -> JsonValue:
    """The same with texts of at most so many characters."""
    match value:
        case str():
            left = len(value) - longest
            return f"{value[:longest]}… ({left:,} more characters)" if left > 0 else value
        case list():
            return [_cut(one, longest) for one in value]
        case dict():
            return {name: _cut(one, longest) for name, one in value.items()}
        case _:
            return value
