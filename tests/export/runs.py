"""Traces for tests of exports, and a store in memory that exports read."""

import hashlib

from app.domain.errors import NotFound
from app.domain.events import ChildFinished, ChildStarted, Entry, FileChanged, Forked
from app.domain.messages import FilePart, ImagePart, TextPart, ToolResult, user_message
from app.domain.trace import StoredTrace
from tests.traces import asked, call, called, finished, ran, returned, said, started, the_sum, trace_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
NOTES = b"a,b\n1,2\n"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def rich_run(run_id: str = "r1") -> list[Entry]:
    """A picture asked about, code run, a file written and a picture returned."""
    code = call("c1", "execute_python", code="print(1)")
    draw = call("c2", "draw", title="Ünïcode / chart")
    picture = ImagePart(artifact=digest(PNG), media_type="image/png", alt="A chart")
    table = FilePart(artifact=digest(NOTES), media_type="text/csv", filename="../../notes.csv", size=len(NOTES))
    drawn_call, drawn = ran(draw, "drawn")
    result = ToolResult(call_id="c2", name="draw", parts=(TextPart(text="drawn"), picture, table))
    question = asked("?").model_copy(update={"message": user_message("What is this?", picture)})
    return trace_of(
        started(files={"/notes.csv": digest(NOTES)}),
        question,
        called("m1"),
        said("I look at it.", code, draw, reasoning="Hm."),
        returned("m1"),
        *ran(code, "1"),
        drawn_call,
        FileChanged(call_id="c2", path="/notes.csv", before=None, after=digest(NOTES)),
        drawn.model_copy(update={"result": result}),
        called("m2"),
        said("It is **a chart**."),
        returned("m2"),
        finished(),
        run_id=run_id,
    )


def forked_run(run_id: str = "fork") -> list[Entry]:
    """The sum with its first step copied out of run `r1`; the call in its second began a run of its own."""
    events = [entry.event for entry in the_sum()]
    copied, own, rest = events[:7], events[7:11], events[11:]
    forked = Forked(run_id="r1", seq=6, prefix_digest="0" * 64)
    child = ChildStarted(call_id="c2", child_run_id="child")
    ended = ChildFinished(call_id="c2", child_run_id="child", status="failed")
    return trace_of(*copied, forked, *own, child, ended, *rest, run_id=run_id)


class Shelf:
    """Runs and artifacts in memory."""

    def __init__(self, *runs: list[Entry], artifacts: tuple[bytes, ...] = (PNG, NOTES), alive: bool = False) -> None:
        self._runs = {entries[0].run_id: entries for entries in runs}
        self._artifacts = {digest(content): content for content in artifacts}
        self._alive = alive

    async def trace(self, run_id: str) -> StoredTrace:
        if run_id not in self._runs:
            raise NotFound(f"There is no run {run_id!r}.")
        return StoredTrace(self._runs[run_id])

    def live(self, run_id: str) -> object | None:
        return self if self._alive else None

    async def get(self, digest: str) -> bytes:
        if digest not in self._artifacts:
            raise NotFound(digest)
        return self._artifacts[digest]
