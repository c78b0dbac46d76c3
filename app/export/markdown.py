"""A run as a Markdown review: what was asked, each step's decision, actions and observations, the answer, what it cost.

Format: `# Run of <agent>`, a list of facts, then `## User`, `## Trajectory` with `### Step n` (`**Decision**`,
`**Actions**`, `**Observations**`), `## Final response` and `## Usage`. What people, models and tools said stands in
quotations and fenced blocks, so that none of it can pass for a part of the review; the answer stands as it is.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.agents import NODES_MODELS
from app.domain.events import Entry, MessageAdded
from app.domain.failure_words import failure_words
from app.domain.messages import AppPart, FilePart, ImagePart, Message, ResultPart, SentKey, ToolResult, sent_key
from app.domain.result_rows import json_of, kept_whole, table_of
from app.domain.trace import (
    NONE_EDITED,
    CallView,
    Edited,
    Edits,
    NodeRun,
    RunRow,
    RunStatus,
    TrajectoryStep,
    error_of,
    run_row,
    said_anew,
    totals,
    trajectory,
)
from app.domain.trace.fork_view import fork_view
from app.domain.trace.sent import how_sent
from app.export.markdown_text import fenced, linked, plain, pretty, quoted, table_lines
from app.export.origins import counted, origins
from app.export.review import BesideFile, attachment_files, attachments_of, call_stem, code_path, files_of_calls
from app.export.words import STATUS_WORDS, app_words, cost_words, duration_words, json_bytes, moment_words
from app.export.workflows.markdown_nodes import node_end, node_head

LONGEST_SHOWN = 8_000
"""Characters of one result in the document; the whole of it is in its file."""
LONGEST_FACT = 2_000


@dataclass(frozen=True, slots=True)
class Review:
    document: str
    """Markdown."""
    files: tuple[BesideFile, ...]
    """What it links to, beside it."""


def review(
    entries: Sequence[Entry],
    *,
    alive: bool = False,
    missing: Collection[str] = (),
    notes: Sequence[str] = (),
    edits: Edits = NONE_EDITED,
    artifacts: Mapping[str, bytes] | None = None,
    title: str = "",
    folder: str = "",
    runs: str = "",
    call_files: bool = True,
) -> Review:
    """The run as Markdown, and the files beside it. `entries` begin with `RunStarted`.

    `alive`: the run goes on. `missing`: artifacts that do not come along, which the text then says.
    `edits`: what a person edited. `artifacts`: contents by sha256, for results that were too big for the model.
    `notes`: sentences for its head, as what could not be read. `title`: in place of whose run it is. `folder`: where
    its files lie, with `/` at the end; `runs`: where runs do, else only named. `call_files`: whether calls are files.
    """
    beside = {digest: _in(folder, file) for digest, file in attachment_files(entries).items()}
    beside_calls = folder if call_files else None
    writer = _Writer(beside, missing, edits, said_anew(entries, edits), artifacts or {}, folder=beside_calls, runs=runs)
    writer.sent = how_sent(entries)
    found = trajectory(entries)
    calls = [call for step in found for call in step.calls]
    for call in calls:
        call.note_edits(edits)
    row = run_row(entries, alive=alive)
    lines = [
        *_head(entries, row, notes, title, runs),
        *_edited(edits.prompt(), "System prompt: "),
        *writer.request(entries),
        *writer.trajectory(found),
        *_final(entries, found, row.status),
        *_usage(entries, row, len(found)),
    ]
    called = (_in(folder, file) for file in files_of_calls(calls) if call_files)
    files = (*called, *(file for file in beside.values() if file.artifact not in missing))
    return Review("\n".join(lines).rstrip() + "\n", files)


def _in(folder: str, file: BesideFile) -> BesideFile:
    return replace(file, path=folder + file.path)


def _head(entries: Sequence[Entry], row: RunRow, notes: Sequence[str], title: str, runs: str) -> Iterator[str]:
    yield from (f"# {title or f'Run of {plain(row.agent.name)}'}", "")
    yield f"- Agent: {plain(row.agent.name)} (`{row.agent.slug}`), {row.agent.variant_words}"
    yield f"- Model: {plain(row.model or NODES_MODELS)}"
    yield f"- Started: {moment_words(row.started_at)}"
    yield f"- Status: {STATUS_WORDS[row.status]}"
    yield f"- Run: `{row.run_id}`"
    for name, words in origins(entries).items():
        yield f"- {name}: {linked(plain(words, LONGEST_FACT), runs)}"
    for note in notes:
        yield f"- Note: {plain(note)}"
    yield ""


class _Writer:
    """Writes what was said and done, with links to the files beside the document."""

    def __init__(
        self,
        beside: Mapping[str, BesideFile],
        missing: Collection[str],
        edits: Edits,
        said_anew: Sequence[tuple[Message, Edited]],
        artifacts: Mapping[str, bytes],
        *,
        folder: str | None,
        runs: str,
    ) -> None:
        """`folder`: where each call has a file; `None` where none has."""
        self._runs = runs
        self._edits = edits
        self._said_anew = said_anew
        self._artifacts = artifacts
        self._beside = beside
        self._folder = folder
        self._missing = missing
        self._calls = 0
        self.sent: Mapping[SentKey, str] = {}
        """How its files and pictures went along."""

    def request(self, entries: Iterable[Entry]) -> Iterator[str]:
        """What the user asked first; what came later stands at its step."""
        events = (entry.event for entry in entries)
        said = (event.message for event in events if isinstance(event, MessageAdded))
        yield from ("## User", "")
        if (message := next((one for one in said if one.role == "user"), None)) is None:
            yield from ("*No message.*", "")
        else:
            yield from self._message(message)

    def trajectory(self, found: Sequence[TrajectoryStep]) -> Iterator[str]:
        yield from ("## Trajectory", "")
        if not found:
            yield from ("*The model has not answered.*", "")
        for step in found:
            yield from self._step(step)

    def _step(self, step: TrajectoryStep) -> Iterator[str]:
        if step.node is not None:
            yield from self._node(step.number, step.node)
            return
        decision = step.decision
        yield from (f"### Step {step.number}", "")
        for message in step.observed if step.number > 1 else step.observed[1:]:
            if isinstance(message, Message):
                yield from ("**User**", "", *self._message(message))
        yield from ("**Decision**", "")
        if thought := decision.reasoning.strip():
            yield from (*quoted(thought), "")
        if decision.kind == "act" and decision.text.strip():
            yield from (*quoted(decision.text), "")
        yield from (_decided(step), "")
        yield from _edited(self._edits.message(decision.seq))
        if step.calls:
            yield from ("**Actions**", "")
            numbers = range(self._calls + 1, self._calls + 1 + len(step.calls))
            self._calls += len(step.calls)
            for number, call in zip(numbers, step.calls, strict=True):
                yield from _action(number, call, self._folder)
                yield from _edited(call.edited_arguments)
            yield from ("**Observations**", "")
            for number, call in zip(numbers, step.calls, strict=True):
                yield from self._observation(number, call)

    def _node(self, number: int, run: NodeRun) -> Iterator[str]:
        yield from node_head(number, run, self._runs)
        for call in run.calls.values():
            self._calls += 1
            yield from _action(self._calls, call, self._folder)
            yield from self._observation(self._calls, call)
        yield from node_end(run)

    def _observation(self, number: int, call: CallView) -> Iterator[str]:
        said = f"{number}. {plain(call.name)}: " + (call.result.status if call.result else "no result yet")
        took = f", {duration_words(call.ms)}" if call.ms is not None else ""
        yield from (f"{number}. {plain(call.name)}" if call.edited_result else said + took, "")
        yield from _edited(call.edited_result)
        if call.result is not None:
            yield from self._result(number, call, call.result)
        for change in call.changes:
            yield from (f"   {'Removed' if change.after is None else 'Wrote'} {plain(change.path)}", "")

    def _result(self, number: int, call: CallView, result: ToolResult) -> Iterator[str]:
        text = yield from self._rows(call, result)
        if text:
            yield from (*fenced(text[:LONGEST_SHOWN]), "")
        if len(text) > LONGEST_SHOWN:
            left = len(text) - LONGEST_SHOWN
            where = "left out here"
            if self._folder is not None:
                where = f"in [its file]({self._folder}{call_stem(number, call)}.json)"
            yield from (f"*{left:,} more characters are {where}.*", "")
        yield from self._attachments(result.parts)
        for part in result.parts:
            if isinstance(part, AppPart):
                yield from (f"*{plain(app_words(part))}*", "")

    def _rows(self, call: CallView, result: ToolResult) -> Generator[str, None, str]:
        """Writes the rows of a result as a table; gives back the text that is left, JSON in lines."""
        if result.failed:
            return result.text
        if call.name == "spawn_task" and call.task_run and not call.edited_result:
            yield from (f"Handed over to {linked(f'run {call.task_run}', self._runs)}, a record of its own.", "")
            return ""
        whole = kept_whole(result)
        content = self._artifacts.get(whole.artifact) if whole else None
        if table := table_of(content.decode(errors="replace") if content else result.text):
            yield from (*table_lines(table), "")
            return pretty(table.beside) if table.beside else ""
        value = json_of(result.text)
        return result.text if value is None else pretty(value)

    def _message(self, message: Message) -> Iterator[str]:
        if message.text.strip():
            yield from (*quoted(message.text), "")
        yield from _edited(next((edited for said, edited in self._said_anew if said == message), None))
        yield from self._attachments(message.attachments)

    def _attachments(self, parts: Iterable[ResultPart]) -> Iterator[str]:
        for part in attachments_of(parts):
            words = self.sent.get(sent_key(part))
            yield from (self._attachment(part) + (f" ({plain(words)})" if words else ""), "")

    def _attachment(self, part: ImagePart | FilePart) -> str:
        name = plain(part.name)
        if part.artifact in self._missing:
            return f"*{name}: its content is not in this export.*"
        path = self._beside[part.artifact].path
        return f"![{name}]({path})" if isinstance(part, ImagePart) else f"[{name}]({path})"


def _edited(edited: Edited | None, about: str = "") -> Iterator[str]:
    if edited is not None:
        yield from (f"*{about}{plain(edited.words, LONGEST_FACT)}*", "")


def _decided(step: TrajectoryStep) -> str:
    decision = step.decision
    what = f"call {plain(', '.join(call.name for call in step.calls))}" if decision.kind == "act" else "answer"
    usage = decision.usage
    figures = f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens, {duration_words(decision.ms)}"
    return f"Decided to {what} ({figures}, {cost_words(decision.cost)})."


def _action(number: int, call: CallView, folder: str | None) -> Iterator[str]:
    code = f", [code]({folder}{path})" if (path := code_path(number, call)) else ""
    files = "" if folder is None else f" ([file]({folder}{call_stem(number, call)}.json){code})"
    yield from (f"{number}. {plain(call.name)}{files}", "")
    if call.malformed is not None:
        yield from (*fenced(call.malformed), "")
    else:
        written = json_bytes(call.arguments, indent=2).decode()
        yield from (*fenced(written, "json"), "")


def _final(entries: Sequence[Entry], found: Sequence[TrajectoryStep], status: RunStatus) -> Iterator[str]:
    yield from ("## Final response", "")
    last = found[-1].decision if found else None
    if last is not None and last.kind == "respond" and last.text.strip():
        yield from (last.text.rstrip(), "")
    else:
        yield from (f"*None: the run is {STATUS_WORDS[status]}.*", "")
    if error := error_of(entries):
        words = failure_words(error.failure, error.text)
        yield from (f"**{words.title}** (`{error.failure}`)", "", *quoted(error.text), "", f"{words.next_step}", "")


def _usage(entries: Sequence[Entry], row: RunRow, steps: int) -> Iterator[str]:
    sums, view = totals(entries), fork_view(entries)
    usage = sums.usage
    figures = {
        "Steps": view.summary if view else f"{steps:,}",
        "Model calls": f"{sums.model_calls:,}",
        "Tool calls": f"{sums.tool_calls:,}",
        "Input tokens": f"{usage.input_tokens:,}",
        "of these from the cache": f"{usage.cached_tokens:,}",
        "Output tokens": f"{usage.output_tokens:,}",
        "of these reasoning": f"{usage.reasoning_tokens:,}",
        "Cost": cost_words(sums.cost, unpriced=sums.unpriced),
        "Duration": duration_words(row.duration_ms),
    }
    yield from ("## Usage", "", "| Figure | Value |", "|---|---|")
    yield from (f"| {name} | {value} |" for name, value in figures.items())
    for sentence in counted(entries):
        yield from ("", f"*{sentence}*")
    if usage.estimated:
        yield from ("", "*Some of the tokens were counted here, because the provider named none.*")
