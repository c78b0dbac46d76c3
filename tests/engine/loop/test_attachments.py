"""What is attached to messages, from sending to the next turns."""

import asyncio

import pytest

from app.domain.errors import ToolError, WorkbenchError
from app.domain.messages import FilePart, ImagePart, user_message
from app.domain.reading.file_names import LONGEST_FILE_NAME, plain_file_name
from app.domain.tools import CallContext
from app.domain.trace import RunFilter
from app.engine.loop.attachments import attach, kept
from app.engine.runs.runs import Runs
from app.engine.sessions.chat import Chat
from app.tools.function.tool import tool
from app.tools.paths import session_path
from app.tools.registry import Registry
from tests.engine.conftest import Bench


async def part(bench: Bench, name: str, content: bytes = b"x", media_type: str = "text/csv") -> FilePart | ImagePart:
    return await kept(bench.data.artifacts, content, media_type=media_type, filename=name)


async def said(bench: Bench, session, text: str, *attachments):
    bench.models.say("ok")
    live = await bench.chat.send(session.id, text, attachments)
    await asyncio.wait_for(live.ended(), 30)
    return live


def paths(live):
    return [attached.path for attached in live.entries[1].event.message.attachments]


async def test_attachments_follow_the_words_in_order_and_are_files_of_the_session(bench):
    session = await bench.session()
    table, photo = await part(bench, "a.csv"), await part(bench, "me.png", b"png", "image/png")
    live = await said(bench, session, "look", table, photo)
    message = bench.models.requests[0].messages[0]
    assert [one.type for one in message.parts] == ["text", "file", "image"] and paths(live) == ["/a.csv", "/me.png"]
    assert live.started.files == {"/a.csv": table.artifact, "/me.png": photo.artifact}
    again = await said(bench, session, "and now?")
    assert bench.models.requests[1].messages[0] == message and again.started.files == live.started.files


async def test_attachments_of_one_name_get_paths_of_their_own(bench):
    session = await bench.session()
    one, other = await part(bench, "a.csv", b"1"), await part(bench, "a.csv", b"2")
    assert paths(await said(bench, session, "x", one, other)) == ["/a.csv", "/a-2.csv"]
    assert paths(await said(bench, session, "the same again", other)) == ["/a-2.csv"]
    assert paths(await said(bench, session, "x", await part(bench, "a.csv", b"3"))) == ["/a-3.csv"]


async def test_attachments_may_go_without_words(bench):
    session = await bench.session()
    live = await said(bench, session, " ", await part(bench, "a.csv"), await part(bench, "b.csv"))
    assert [one.type for one in bench.models.requests[0].messages[0].parts] == ["file", "file"]
    assert bench.data.sessions.get(session.id).title == "a.csv, b.csv"
    assert bench.data.rows.find(RunFilter()).rows[0].request == "a.csv, b.csv"
    with pytest.raises(WorkbenchError, match="empty"):
        await bench.chat.send(session.id, " ")
    assert live.status == "completed"


async def test_editing_and_regenerating_keep_the_attachments(bench):
    session = await bench.session()
    first = await said(bench, session, "look", await part(bench, "a.csv"))
    for again in (
        lambda: bench.chat.edit(session.id, first.run_id, "look closer"),
        lambda: bench.chat.regenerate(session.id, bench.data.sessions.get(session.id).runs[0]),
    ):
        bench.models.say("ok")
        live = await again()
        await asyncio.wait_for(live.ended(), 30)
        assert paths(live) == ["/a.csv"] and list(live.started.files) == ["/a.csv"]
        assert bench.models.requests[-1].messages[-1].text == "look closer"


async def test_what_is_attached_and_not_sent_yet_is_part_of_the_next_request_until_it_is(bench):
    session = await bench.session()
    draft = (await part(bench, "a.csv"),)
    await bench.data.sessions.change(session.id, lambda one: one.model_copy(update={"composer_attachments": draft}))
    [message] = (await bench.chat.next_request(session.id)).messages
    assert [one.path for one in message.attachments] == ["/a.csv"]
    await said(bench, session, "go", *draft)
    assert bench.data.sessions.get(session.id).composer_attachments == ()


async def test_tools_that_open_what_is_attached_are_offered_first_in_this_turn_and_the_next(bench):
    @tool()
    async def other() -> str:
        """Something else."""
        return ""

    @tool(handles=("application/pdf",))
    async def pdf_text(path: str, context: CallContext) -> str:
        """Reads a PDF."""
        return (await context.files.read(path)).decode()

    registry = Registry([other, pdf_text])
    runs = Runs(bench.data.traces, bench.data.rows, bench.models, registry, bench.data.artifacts, bench.clock)
    own = Bench(
        bench.data, bench.models, bench.clock, runs, Chat(bench.data.agents, bench.data.sessions, runs, registry)
    )
    session = await own.session("other", "pdf_text")
    await said(own, session, "hi")
    await said(own, session, "read", await part(own, "a.pdf", media_type="application/pdf"))
    await said(own, session, "more")
    offered = [[spec.name for spec in request.tools] for request in own.models.requests]
    assert offered == [["other", "pdf_text"], ["pdf_text", "other"], ["pdf_text", "other"]]
    await runs.close()


def test_an_attachment_that_is_a_file_already_keeps_its_path():
    part = FilePart(artifact="a", media_type="text/csv", filename="a.csv", size=1, path="/a-2.csv")
    message = user_message("", part)
    assert attach(message, {}).message == message
    assert list(attach(message, {"/a-2.csv": "another"}).files) == ["/a-2.csv", "/a.csv"]


@pytest.mark.parametrize(
    ("said_name", "name"),
    [
        ("a b.csv", "a b.csv"),
        ("C:\\Users\\me\\plan.pdf", "plan.pdf"),
        ("../../etc/passwd", "passwd"),
        ("über.csv", "über.csv"),
        ("रिपोर्ट हिन्दी.pdf", "रिपोर्ट हिन्दी.pdf"),
        ("พื้นที่.csv", "พื้นที่.csv"),
        ("\u2764\ufe0f notes.txt", "__ notes.txt"),
        ("con.txt", "file-con.txt"),
        ("a\u202egnp.exe", "a_gnp.exe"),
        ("a⁄b:c*?.csv", "a_b_c__.csv"),
        ("...", "file"),
        ("", "file"),
        ("x" * 500 + ".csv", "x" * (LONGEST_FILE_NAME - 4) + ".csv"),
    ],
)
def test_whatever_a_file_is_called_its_path_is_one_that_tools_take(said_name, name):
    attached = FilePart(artifact="a", media_type="text/csv", filename=said_name, size=1)
    assert plain_file_name(said_name) == name
    [path] = attach(user_message("", attached), {}).files
    try:
        assert session_path(path) == path
    except ToolError as refused:
        pytest.fail(str(refused))
