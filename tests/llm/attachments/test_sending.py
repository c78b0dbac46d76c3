"""What arrives at each provider of what is attached, byte for byte, and what comes in its place."""

import base64
import io
import json
from pathlib import Path

import pytest
from PIL import Image

from app.domain.messages import Message, SentAttachment, TextPart, ToolResult
from app.domain.tools import ToolSpec
from app.llm.attachments.attachments import MOST_IMAGE_BYTES, TOO_MANY
from tests.fakes.server import Json
from tests.llm.sending import MP4, PDF, WAV, Sender, picture, sender

PICTURE = picture()
MODELS = {
    "openai": "openai/gpt-4o",
    "openrouter": "openrouter/some/model",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-2.5-flash",
    "bedrock": "bedrock/us.amazon.nova-lite-v1:0",
    "ollama": "ollama/llava",
    "lmstudio": "lmstudio/qwen3-vl-8b",
}


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def data(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{encoded(content)}"


def blocks(body: Json) -> list[Json]:
    """What the last message carries, as its provider writes it."""
    message = (body.get("messages") or body.get("contents"))[-1]
    content = message.get("parts") or message["content"]
    return content if isinstance(content, list) else [{"text": content}, *({"image": one} for one in message["images"])]


PICTURES: dict[str, Json] = {
    "openai": {"type": "image_url", "image_url": {"url": data("image/png", PICTURE)}},
    "openrouter": {"type": "image_url", "image_url": {"url": data("image/png", PICTURE)}},
    "lmstudio": {"type": "image_url", "image_url": {"url": data("image/png", PICTURE)}},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded(PICTURE)}},
    "gemini": {"inline_data": {"data": encoded(PICTURE), "mime_type": "image/png"}},
    "bedrock": {"image": {"format": "png", "source": {"bytes": encoded(PICTURE)}}},
    "ollama": {"image": encoded(PICTURE)},
}


@pytest.mark.parametrize("provider", MODELS)
async def test_a_small_picture_arrives_as_it_is(provider: str, tmp_path: Path):
    async with sender(provider, tmp_path) as it:
        [sent] = await it.send(MODELS[provider], it.image(PICTURE))
        assert PICTURES[provider] in blocks(it.body)
    assert (sent.how, sent.media_type, sent.width, sent.height, sent.size) == (
        *("inline", "image/png", 60, 40), len(PICTURE),
    )  # fmt: skip


PDFS: dict[str, Json] = {
    "openai": {"type": "file", "file": {"file_data": data("application/pdf", PDF), "filename": "a.pdf"}},
    "openrouter": {"type": "file", "file": {"file_data": data("application/pdf", PDF), "filename": "a.pdf"}},
    "anthropic": {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": encoded(PDF)},
    },
    "gemini": {"inline_data": {"data": encoded(PDF), "mime_type": "application/pdf"}},
}


@pytest.mark.parametrize("provider", PDFS)
async def test_a_pdf_arrives_whole_where_it_is_taken(provider: str, tmp_path: Path):
    async with sender(provider, tmp_path) as it:
        [sent] = await it.send(MODELS[provider], it.file(PDF, "application/pdf", "a.pdf"))
        found = [json.loads(json.dumps(one)) for one in blocks(it.body)]
        for one in found:
            one.get("file", {}).pop("format", None)  # which OpenAI's own way leaves out and OpenRouter's does not
        assert PDFS[provider] in found
    assert (sent.how, sent.why, sent.size) == ("inline", "", len(PDF))


async def test_bedrock_gets_a_pdf_and_a_video_in_its_own_words(tmp_path: Path):
    async with sender("bedrock", tmp_path) as it:
        name = MODELS["bedrock"]
        await it.send(name, it.file(PDF, "application/pdf", "a.pdf", "inline"), it.file(MP4, "video/mp4", "a.mp4"))
        words, document, video = blocks(it.body)
        assert words == {"text": "look"}
        assert document["document"]["source"] == {"bytes": encoded(PDF)} and document["document"]["format"] == "pdf"
        assert video == {"video": {"format": "mp4", "source": {"bytes": encoded(MP4)}}}


async def test_sound_and_videos_arrive_where_they_are_taken(tmp_path: Path):
    async with sender("openai", tmp_path) as it:
        await it.send("openai/gpt-audio", it.file(WAV, "audio/x-wav", "a.wav"))
        sound = {"type": "input_audio", "input_audio": {"data": encoded(WAV), "format": "wav"}}
        assert sound in blocks(it.body)
    async with sender("gemini", tmp_path / "gemini") as it:
        for content, media_type in ((WAV, "audio/x-wav"), (b"fLaC", "audio/flac"), (MP4, "video/mp4")):
            [sent] = await it.send(MODELS["gemini"], it.file(content, media_type, "a.bin"))
            assert {"inline_data": {"data": encoded(content), "mime_type": media_type}} in blocks(it.body)
            assert sent.how == "inline"


NOTHING_KNOWN = "it is no text, picture, PDF, sound or video that could be within a message"
FALLS = [
    ("anthropic", WAV, "audio/x-wav", "Anthropic takes no sound"),
    ("bedrock", WAV, "audio/x-wav", "Amazon Bedrock takes no sound"),
    ("openai", WAV, "audio/x-wav", "gpt-4o takes no sound"),
    ("openai", MP4, "video/mp4", "OpenAI takes no videos"),
    ("gemini", b"MThd", "audio/midi", "Google Gemini takes no sound of the type audio/midi"),
    ("ollama", PDF, "application/pdf", "Ollama takes no PDF files"),
    ("lmstudio", WAV, "audio/x-wav", "LM Studio takes no sound"),
    ("openai", b"PK\3\4\xff", "application/zip", NOTHING_KNOWN),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "content", "media_type", "why"), FALLS)
async def test_what_is_not_taken_is_a_file_of_the_session_and_it_is_said_why(
    provider: str, content: bytes, media_type: str, why: str, tmp_path: Path
):
    async with sender(provider, tmp_path) as it:
        [sent] = await it.send(MODELS[provider], it.file(content, media_type, "a.bin", "inline"))
        arrived = json.dumps(it.body, ensure_ascii=False)
    assert (sent.how, sent.why) == ("reference", why)
    assert f"not within this message since {why}" in arrived and '\\"path\\": \\"/a.bin\\"' in arrived
    assert encoded(content) not in arrived and "input_audio" not in arrived


async def test_a_model_that_does_not_see_is_told_of_a_picture(tmp_path: Path):
    async with sender("ollama", tmp_path) as it:
        [sent] = await it.send("ollama/llama3", it.image(PICTURE))
        assert not it.body["messages"][-1].get("images")
        assert (
            "look\n\n[Attached image, not shown since this model sees no pictures: "
            in it.body["messages"][-1]["content"]
        )
    assert (sent.how, sent.why) == ("reference", "this model sees no pictures")


async def shown(it: Sender, content: bytes, *, detail: bool = False) -> tuple[SentAttachment, Image.Image, bytes]:
    [sent] = await it.send("openai/gpt-4o", it.image(content, detail=detail, media_type="image/jpeg"))
    address = blocks(it.body)[-1]["image_url"]["url"]
    kind, _, written = address.removeprefix("data:").partition(";base64,")
    assert kind == sent.media_type
    arrived = base64.b64decode(written)
    assert len(arrived) == sent.size
    return sent, Image.open(io.BytesIO(arrived)), arrived


async def test_a_photo_arrives_upright_smaller_and_without_what_its_camera_wrote(tmp_path: Path):
    photo = picture((2400, 1200), "JPEG", turned=6)
    async with sender("openai", tmp_path) as it:
        sent, image, arrived = await shown(it, photo)
        assert (image.size, sent.width, sent.height, image.format) == ((784, 1568), 784, 1568, "JPEG")
        assert not image.getexif() and b"Camera at home" in photo and b"Camera at home" not in arrived
        larger, image, _ = await shown(it, photo, detail=True)
        assert image.size == (1000, 2000) and larger.detail


async def test_the_newest_pictures_that_fit_into_a_call_are_sent(tmp_path: Path):
    async with sender("openai", tmp_path) as it:
        seen = [picture((1500, 1100), "JPEG", mode="RGB") for _ in range(2)]
        most = MOST_IMAGE_BYTES // len(seen[0])
        many = [it.image(picture((1500, 1100), "JPEG"), media_type="image/jpeg") for _ in range(most + 2)]
        sent = await it.send("openai/gpt-4o", *many)
        written = [one["type"] for one in blocks(it.body)[1:]]
    assert [one.how for one in sent] == ["reference"] * 2 + ["inline"] * most
    assert {one.why for one in sent[:2]} == {TOO_MANY}
    assert written == ["image_url"] * most


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\x89PNG\r\n\x1a\n" + bytes(50), "it cannot be read as a picture"), (b"", "it cannot be read as a picture")],
)
async def test_a_broken_picture_is_told_of(content: bytes, words: str, tmp_path: Path):
    async with sender("openai", tmp_path) as it:
        [sent] = await it.send("openai/gpt-4o", it.image(content))
    assert sent.how == "reference" and words in sent.why


async def test_pictures_that_tools_return_follow_and_those_that_are_gone_are_told_of(tmp_path: Path):
    async with sender("openai", tmp_path) as it:
        there, gone = it.image(PICTURE), it.image(picture((9, 9)))
        del it.contents[gone.artifact]
        result = ToolResult(call_id="c1", name="draw", parts=(TextPart(text="done"), there, gone))
        await it.send("openai/gpt-4o", before=(Message.of_result(result),))
        said, follows = it.body["messages"][:2]
    assert "[Image: cat.png, shown below]" in said["content"]
    assert "not shown since it is not available any more" in said["content"]
    assert [one["type"] for one in follows["content"]] == ["text", "image_url", "text"]


async def test_texts_are_copied_where_that_is_wanted_or_no_tool_opens_them(tmp_path: Path):
    reader = ToolSpec(name="csv", description="", parameters={"type": "object"}, handles=("text/csv",))
    async with sender("anthropic", tmp_path) as it:
        table = it.file(b"a,b\n1,2\n", "text/csv", "t.csv")
        large = it.file(b"x" * 20_000, "text/csv", "large.csv")
        name = MODELS["anthropic"]
        copied, only_named = await it.send(name, table, large)
        assert blocks(it.body)[0]["text"].startswith("look\n\nt.csv:\na,b\n1,2\n\n\n[Attached file: ")
        assert (copied.how, only_named.how) == ("inline", "reference")
        [opened] = await it.send(name, table, tools=(reader,))
        assert opened.how == "reference" and "Tools that can open it: csv." in blocks(it.body)[-1]["text"]
        wanted = table.model_copy(update={"disposition": "inline"})
        [copied] = await it.send(name, wanted, tools=(reader,))
        assert copied.how == "inline" and blocks(it.body)[-1]["text"] == "look\n\nt.csv:\na,b\n1,2\n"


async def test_a_file_may_be_meant_for_a_tool_and_the_agent_may_say_so(tmp_path: Path):
    tools = tuple(ToolSpec(name=name, description="", parameters={"type": "object"}) for name in ("one", "other"))
    async with sender("anthropic", tmp_path) as it:
        name = MODELS["anthropic"]
        meant = it.file(PDF, "application/pdf", "a.pdf", "tool:other")
        await it.send(name, meant, tools=tools)
        assert blocks(it.body)[-1]["text"].endswith(" Open it with other.")
        nobody = meant.model_copy(update={"disposition": "tool:gone"})
        [sent] = await it.send(name, nobody, tools=tools)
        assert (sent.how, sent.why) == ("reference", "this agent has no tool 'gone'")
        free = meant.model_copy(update={"disposition": "auto"})
        rules = {"*": "reference", "application/*": "inline", "application/pdf": "tool:one"}
        await it.send(name, free, tools=tools, dispositions=rules)
        assert blocks(it.body)[-1]["text"].endswith(" Open it with one.")
        forced = meant.model_copy(update={"disposition": "inline"})
        [sent] = await it.send(name, forced, tools=tools, dispositions=rules)
        assert sent.how == "inline"
