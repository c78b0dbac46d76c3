"""The tools of a cell: they answer from the record of its case, but for those that its plan lets be called for real.

Nobody is there to be asked. What would need a person, and what is not recorded, ends the run: its answer would tell
nothing of the variant.
"""

import json
from collections.abc import Sequence

from app.domain.edits import ToolSource
from app.domain.errors import ToolError
from app.domain.evals.experiments import Plan
from app.domain.events import Entry, PauseRequested
from app.domain.messages import ToolCall
from app.domain.tools import FIND_TOOLS, CallContext, GrantedTool, ToolOutput
from app.domain.trace.recorded import asked_calls, recorded_calls
from app.engine.loop.loop import run_agent
from app.engine.run.run import Run
from app.engine.runs.recorded_tools import LIVE, RECORDED, NotRecorded, RecordedTools, Recording, call_key

ASKED = "{name} asked a person: {question} In an experiment nobody is there to answer."
LONGEST_ARGUMENTS = 200  # characters


class CaseRecord:
    """What is recorded of a case, as the runs of one try use it up."""

    def __init__(self, entries: Sequence[Entry], plan: Plan, *, origin: str) -> None:
        """`origin` names where the record is from."""
        self.plan = plan
        self.origin = origin
        self.recording = Recording(recorded_calls(entries), asked_calls(entries))
        self.called: set[tuple[str, str]] = set()
        """By run and call."""
        self.answered: set[tuple[str, str]] = set()
        """Those of them that the record answered."""
        self.given: dict[str, ToolOutput] = {}
        self.missing = ""
        """What a run asked for that was not there, in words; empty where there was nothing."""


class CaseTools:
    """Takes the place of a run's toolset."""

    def __init__(self, run: Run, record: CaseRecord) -> None:
        self._run = run
        self._record = record
        self._asking = {tool.spec.name for tool in run.started.tools if tool.policy == "ask"}
        self._tools = RecordedTools(run, run.toolset, record.recording, self._source, origin=record.origin)
        run.toolset, run.only_recorded = self, self._tools.only_recorded
        run.allowed |= {*record.plan.live}  # also of a node or an agent below that says to ask

    async def call(self, call: ToolCall, context: CallContext) -> ToolOutput:
        self._record.called.add((self._run.run_id, call.call_id))
        try:
            output = await self._tools.call(call, context)
        except NotRecorded as error:
            return self._again(call, error)
        if self._tools.only_recorded(call):
            self._record.answered.add((self._run.run_id, call.call_id))
            self._record.given[self._key(call)] = output
        return output

    def reads_outside(self, name: str) -> bool:
        return self._tools.reads_outside(name)

    def label(self, name: str) -> str:
        return self._tools.label(name)

    def release(self) -> None:
        self._tools.release()

    def miss(self, words: str) -> None:
        """End the run, which needs something that is not there."""
        self._record.missing = self._record.missing or words
        self._run.stop()

    def _again(self, call: ToolCall, error: NotRecorded) -> ToolOutput:
        """What the same call gave before, of a tool that gives the same again; else the run ends."""
        tool, given = self._run.granted(call.name), self._record.given.get(self._key(call))
        if given is not None and tool is not None and tool.spec.idempotent and not tool.spec.side_effects:
            self._record.answered.add((self._run.run_id, call.call_id))
            return given
        self.miss(self._missing(call))
        raise ToolError(self._record.missing) from error

    def _key(self, call: ToolCall) -> str:
        """Another one once a file has changed."""
        return f"{call_key(call.name, call.arguments)} {sorted(self._run.files.items())}"

    def _missing(self, call: ToolCall) -> str:
        if self._record.plan.tools == "live":
            return (
                f"{call.name} asks before it is called, and in an experiment nobody is there to say yes. Name it among "
                "the tools that are called for real without asking."
            )
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        shown = arguments if len(arguments) <= LONGEST_ARGUMENTS else arguments[:LONGEST_ARGUMENTS] + "…"
        return (
            f"The agent asked for something that is not recorded: {call.name} with {shown}. Name {call.name} among the "
            "tools that are called for real, or record this case anew."
        )

    def _source(self, name: str) -> ToolSource:
        plan = self._record.plan
        if name in plan.live or name == FIND_TOOLS:  # which only tells what other tools there are
            return LIVE
        return LIVE if plan.tools == "live" and name not in self._asking else RECORDED


class Acting:
    """The agent loop of a cell's run, with the tools of its case."""

    def __init__(self, record: CaseRecord) -> None:
        self._record = record
        self.tools: CaseTools | None = None

    async def __call__(self, run: Run) -> None:
        self.tools = CaseTools(run, self._record)
        run.work_below = Acting(self._record)  # a run below is no way around the record
        await run_agent(run)
        asked = next((entry.event for entry in run.entries if isinstance(entry.event, PauseRequested)), None)
        if asked is not None:  # by a run below: nobody follows that one
            words = ASKED.format(name=asked.name or asked.asked_by or "A tool", question=asked.question)
            self._record.missing = self._record.missing or words


def unasked(tools: Sequence[GrantedTool], live: Sequence[str]) -> tuple[GrantedTool, ...]:
    """The tools, those that are to be called for real without asking."""
    return tuple(tool.model_copy(update={"policy": "auto"}) if tool.spec.name in live else tool for tool in tools)
