"""Calls of a server's tools: what comes back, what comes meanwhile, and what the server asks."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from app.domain.errors import ToolError
from app.domain.messages import FilePart, ImagePart, TextPart
from app.domain.tools import Answer, Question
from app.tools.mcp.hub import McpHub
from tests.tools.context import Context
from tests.tools.mcp.hubs import called, hostile, hub_of, reached, text_of
from tests.waiting import until

PIXEL = base64.b64encode(b"\x89PNG pixel").decode()


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[McpHub]:
    async with hub_of(tmp_path, hostile()) as hub:
        await reached(hub, "ready")
        yield hub


async def given(hub: McpHub, context: Context, *content: dict[str, object], **beside: object):
    return await called(hub, "bad__give", context, result={"content": list(content), **beside})


async def test_images_and_sounds_become_artifacts(hub: McpHub):
    context = Context()
    output = await given(
        hub,
        context,
        {"type": "text", "text": "Look:"},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "audio", "data": PIXEL, "mimeType": "audio/mpeg"},
    )
    text, image, sound = output.parts
    assert text == TextPart(text="Look:")
    assert isinstance(image, ImagePart)
    assert (image.media_type, image.alt) == ("image/png", "give.png")
    assert isinstance(sound, FilePart)
    assert (sound.media_type, sound.filename) == ("audio/mpeg", "give.mp3")
    assert context.kept[image.artifact] == b"\x89PNG pixel"


@pytest.mark.parametrize(
    ("structured", "told"),
    [
        ({"result": {"type": "image", "data": PIXEL, "mimeType": "image/png"}}, []),
        ({"result": [f"data:image/png;base64,{PIXEL}"], "size": None}, ['{"size": null}']),
        ({"pictures": [{"data": PIXEL}, {"title": "Sun"}]}, ['{"pictures": [{"title": "Sun"}]}']),
        ({"none": [], "empty": {}}, ['{"none": [], "empty": {}}']),
    ],
)
async def test_a_picture_that_is_repeated_as_structured_content_comes_once(hub: McpHub, structured: object, told: list):
    picture = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    output = await given(hub, Context(), picture, structuredContent=structured)
    assert [part.text for part in output.parts if isinstance(part, TextPart)] == told
    assert isinstance(output.parts[-1], ImagePart) and len(output.parts) == 1 + len(told)


async def test_a_server_that_asks_for_its_folders_gets_the_one_it_was_started_in(hub: McpHub, tmp_path: Path):
    assert json.loads(text_of(await called(hub, "bad__roots"))) == {"roots": []}
    there = tmp_path / "there"
    there.mkdir()
    server = hostile()
    moved = server.model_copy(update={"transport": server.transport.model_copy(update={"cwd": str(there)})})
    async with hub_of(there, moved) as other:
        await reached(other, "ready")
        assert json.loads(text_of(await called(other, "bad__roots"))) == {"roots": [{"uri": there.as_uri()}]}


async def test_resources_become_artifacts_and_their_text_is_told(hub: McpHub):
    context = Context()
    place = "file:///notes/" + quote("हिन्दी b.txt")
    text = {"uri": place, "mimeType": "text/plain", "text": "hello"}
    blob = {"uri": "demo://x/y", "mimeType": "application/pdf", "blob": PIXEL}
    output = await given(hub, context, {"type": "resource", "resource": text}, {"type": "resource", "resource": blob})
    told, note, pdf = output.parts
    assert told == TextPart(text=f"{place}:\nhello")
    assert isinstance(note, FilePart)
    assert isinstance(pdf, FilePart)
    assert (note.filename, pdf.filename) == ("हिन्दी b.txt", "y.pdf")
    assert sorted(context.kept.values()) == [b"hello", b"\x89PNG pixel"]


async def test_a_link_that_cannot_be_read_is_told_of(hub: McpHub):
    link = {"type": "resource_link", "uri": "demo://gone", "name": "gone", "description": "was here"}
    output = await given(hub, Context(), link)
    assert text_of(output) == "gone - demo://gone - was here"


async def test_structured_content_is_told_where_there_is_no_text(hub: McpHub):
    output = await given(hub, Context(), structuredContent={"rows": [1, 2]})
    assert text_of(output) == '{"rows": [1, 2]}'
    output = await given(hub, Context(), {"type": "text", "text": "two"}, structuredContent={"rows": [1, 2]})
    assert text_of(output) == "two"
    assert text_of(await given(hub, Context())) == "(nothing returned)"


async def test_broken_content_is_told_of(hub: McpHub):
    output = await given(hub, Context(), {"type": "image", "data": "not base64!", "mimeType": "image/png"})
    assert text_of(output) == "[image/png that cannot be read: it is no base64]"
    with pytest.raises(ToolError, match="The answer of the MCP server bad breaks its own rules"):
        await given(hub, Context(), {"type": "hologram"})


async def test_a_failed_tool_says_why(hub: McpHub):
    with pytest.raises(ToolError, match=r"^no such city$"):
        await given(hub, Context(), {"type": "text", "text": "no such city"}, isError=True)
    with pytest.raises(ToolError, match=r"^give failed and did not say why.$"):
        await given(hub, Context(), isError=True)
    with pytest.raises(ToolError, match=r"^out of order$"):
        await called(hub, "bad__fault")


async def test_a_call_that_cannot_be_written_fails_alone(hub: McpHub):
    with pytest.raises(ToolError, match=r"this call of give: It cannot be sent: .*surrogates not allowed"):
        await asyncio.wait_for(called(hub, "bad__give", result="half a sign: \ud83d"), 5)
    assert text_of(await given(hub, Context(), {"type": "text", "text": "and on it goes"})) == "and on it goes"
    assert "A message to it cannot be written" in "\n".join(hub.states()[0].log)


async def test_progress_reaches_the_call(hub: McpHub):
    context = Context()
    assert text_of(await called(hub, "bad__slow", context, steps=3)) == "done"
    assert [(one.done, one.total, one.text) for one in context.progress] == [
        (0, 1000, "step 0"),
        (1, 1000, "step 1"),
        (2, 1000, "step 2"),
    ]


async def test_cancelling_reaches_the_server_and_leaves_it_usable(hub: McpHub):
    context = Context()
    call = asyncio.create_task(called(hub, "bad__slow", context))
    await until(lambda: context.progress)
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()
    await until(lambda: "the call was cancelled" in hub.states()[0].log)
    assert text_of(await called(hub, "bad__peaceful")) == "calm"


async def test_calls_run_side_by_side(hub: McpHub):
    context = Context()
    slow = asyncio.create_task(called(hub, "bad__slow", context))
    await until(lambda: context.progress)
    assert text_of(await called(hub, "bad__peaceful")) == "calm"
    slow.cancel()


async def test_messages_are_shown_at_the_only_running_call(hub: McpHub):
    context = Context()
    await called(hub, "bad__log", context)
    assert context.shown == ["[info] me: halfway\n"]
    assert "[info] me: halfway" in hub.states()[0].log


async def test_a_question_is_put_to_the_person_of_the_running_call(hub: McpHub):
    context = Context(answer=Answer(decision="accept", values={"colour": "red"}))
    answered = json.loads(text_of(await called(hub, "bad__ask", context)))
    assert answered == {"action": "accept", "content": {"colour": "red"}}
    [question] = context.asked
    assert (question.text, question.asked_by) == ("Which colour?", "bad")
    assert question.form == {
        "type": "object",
        "properties": {"colour": {"type": "string"}},
        "required": ["colour"],
    }


async def test_an_answer_that_is_no_plain_value_declines(hub: McpHub):
    context = Context(answer=Answer(decision="accept", values={"colour": {"deep": "red"}}))
    assert json.loads(text_of(await called(hub, "bad__ask", context))) == {"action": "decline"}


async def test_a_question_is_declined_where_two_calls_could_have_asked_it(hub: McpHub):
    slow, asking = Context(), Context(answer=Answer(decision="accept", values={"colour": "red"}))
    other = asyncio.create_task(called(hub, "bad__slow", slow))
    await until(lambda: slow.progress)
    assert json.loads(text_of(await called(hub, "bad__ask", asking))) == {"action": "decline"}
    assert (slow.asked, asking.asked) == ([], [])
    other.cancel()


async def test_a_question_ends_with_the_call_that_asked_it(hub: McpHub):
    class Thinking(Context):
        async def ask(self, question: Question) -> Answer:
            self.asked.append(question)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                taken_back.set()
                raise
            return self.answer

    taken_back, context = asyncio.Event(), Thinking()
    assert text_of(await called(hub, "bad__leave_question", context)) == "left"
    if context.asked:
        await asyncio.wait_for(taken_back.wait(), 30)
    call = asyncio.create_task(called(hub, "bad__ask", context))
    await until(lambda: context.asked)
    call.cancel()
    await asyncio.wait_for(taken_back.wait(), 30)
