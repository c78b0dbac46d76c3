"""What a finished child hands back: its answer, what it cost, and the files it has changed."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from pydantic import JsonValue
from pydantic_core import from_json

from app.domain.events import (
    ChildStarted,
    Entry,
    FileChanged,
    ModelCalled,
    PauseRequested,
    PauseResolved,
    RunFinished,
    RunStarted,
    ToolCalled,
)
from app.domain.tools import Progress, TaskEnd
from app.domain.trace import conversation, files_after, nodes, totals
from app.domain.workflows.document import OutputNode
from app.engine.run.run import Run


async def watched(child: Run, parent: Run, call_id: str, progressed: Callable[[Progress], None]) -> None:
    """Return when the child has ended; meanwhile tell how far it is.

    While it waits for a person, so does that call of the parent, and its time stands still.
    """
    steps, asked = 0, set[str]()
    with ExitStack() as waiting:
        async for entry in child.follow():
            match entry.event:
                case ModelCalled(attempt=1):
                    steps += 1
                    progressed(Progress(done=steps, text=f"Step {steps}"))
                case ToolCalled(name=name):
                    progressed(Progress(done=steps, text=f"Step {steps}: {name}"))
                case PauseRequested(pause_id=pause_id):
                    if not asked:
                        waiting.enter_context(parent.waiting(call_id))
                    asked.add(pause_id)
                    progressed(Progress(done=steps, text=f"Step {steps}: waits for you"))
                case PauseResolved(pause_id=pause_id):
                    asked.discard(pause_id)
                    if not asked:
                        waiting.close()
                case _:
                    pass
    await child.ended()


def handed_back(parent: Run, call_id: str, entries: Sequence[Entry], end: RunFinished, *, cost: float) -> TaskEnd:
    """What came of the child; its files are the parent's from now on."""
    taken, kept = _take_files(parent, call_id, entries)
    began = next(entry.event for entry in entries if isinstance(entry.event, RunStarted))
    return TaskEnd(
        task_id=entries[-1].run_id,
        status=end.status,
        answer=_answer(entries),
        error=end.error.text if end.error else "",
        failure=end.error.failure if end.error else None,
        output_schema=began.output_schema,
        gave=_gave(entries),
        changed=_changed(entries, began),
        cost=None if totals(entries).unpriced else cost,
        files=taken,
        kept=kept,
    )


def _gave(entries: Sequence[Entry]) -> tuple[JsonValue] | None:
    """What the output of a workflow gave that answered."""
    runs = nodes(entries)
    outputs = (node.id for node in runs.workflow.nodes if isinstance(node, OutputNode))
    ended = (run for id_ in outputs if (run := runs.latest.get(id_)) is not None and run.state == "done")
    if (run := next(ended, None)) is None:
        return None
    if run.whole_output is None:
        return (run.value,)
    answer = _answer(entries)
    return (answer if str(run.value).startswith('"') else from_json(answer),)


def _changed(entries: Sequence[Entry], began: RunStarted) -> bool:
    """Whether it began what should not be done twice; what those below it began is not known here."""
    twice = {tool.spec.name for tool in began.tools if tool.spec.idempotent and not tool.spec.side_effects}
    return any(
        isinstance(event := entry.event, ChildStarted) or (isinstance(event, ToolCalled) and event.name not in twice)
        for entry in entries
    )


def _take_files(parent: Run, call_id: str, entries: Sequence[Entry]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the parent the files that the child changed, but for those that were changed there since; both by path."""
    began = entries[0].event
    before = began.files if isinstance(began, RunStarted) else {}
    after, here = files_after(entries), parent.files
    taken: list[str] = []
    kept: list[str] = []
    for path in sorted(path for path in {*before, *after} if before.get(path) != after.get(path)):
        if here.get(path) not in (before.get(path), after.get(path)):
            kept.append(path)
            continue
        taken.append(path)
        if here.get(path) != after.get(path):
            _change(parent, FileChanged(call_id=call_id, path=path, before=here.get(path), after=after.get(path)))
    return tuple(taken), tuple(kept)


def _change(parent: Run, change: FileChanged) -> None:
    if change.after is None:
        parent.files.pop(change.path, None)
    else:
        parent.files[change.path] = change.after
    parent.recorder.record(change)


def _answer(entries: Sequence[Entry]) -> str:
    """The text of its last answer; empty where it gave none."""
    answers = (message.text for message in reversed(conversation(entries)) if message.role == "assistant")
    return next((text for text in answers if text.strip()), "")
