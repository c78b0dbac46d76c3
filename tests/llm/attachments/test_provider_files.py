"""Files kept with OpenAI, Anthropic and Google: uploaded once, used by id, renewed, forgotten and deleted."""

import asyncio
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from app.domain.errors import ModelFailure
from app.domain.messages import user_message
from app.domain.values import now
from app.llm.attachments.file_stores import KEPT, NotKept
from app.llm.attachments.provider_files import Content
from tests.cancelling import AtAwait
from tests.fakes.files import URI
from tests.fakes.server import Json
from tests.llm.attachments.test_sending import MODELS, blocks
from tests.llm.sending import MP4, PDF, picture, sender
from tests.waiting import until

NATIVE = ("openai", "anthropic", "gemini")
NAMED: dict[str, Json] = {
    "openai": {"type": "file", "file": {"file_id": "file-Kept00000001"}},
    "anthropic": {"type": "document", "source": {"type": "file", "file_id": "file-Kept00000001"}},
    "gemini": {"file_data": {"file_uri": f"{URI}abcdefgh0001", "mime_type": "application/pdf"}},
}


@pytest.mark.parametrize("provider", NATIVE)
async def test_it_is_uploaded_once_and_named_by_its_id_from_then_on(provider: str, tmp_path: Path):
    async with sender(provider, tmp_path) as it:
        it.allow(provider)
        file = it.file(PDF, "application/pdf", "a.pdf", "native")
        for _ in range(2):
            [sent] = await it.send(MODELS[provider], file)
            assert (sent.how, sent.why, sent.size) == ("native", "", len(PDF))
            assert NAMED[provider] in blocks(it.body)
        [kept] = it.store.uploads
        assert (kept.name, kept.media_type, kept.content) == ("a.pdf", "application/pdf", PDF)
        headers = it.fake.seen.headers[-1]
    if provider == "openai":
        assert kept.fields == {
            "purpose": "user_data",
            "expires_after[anchor]": "created_at",
            "expires_after[seconds]": str(7 * 24 * 3600),
        }
    if provider == "anthropic":
        assert kept.headers["x-api-key"] == "sk-ant-fake-0123456789"
        assert "files-api-2025-04-14" in kept.headers["anthropic-beta"] and "files-api" in headers["anthropic-beta"]
    if provider == "gemini":
        assert kept.headers["X-Goog-Upload-Command"] == "upload, finalize"


@pytest.mark.parametrize("provider", NATIVE)
async def test_nothing_is_uploaded_before_its_owner_allowed_it(provider: str, tmp_path: Path):
    async with sender(provider, tmp_path) as it:
        [sent] = await it.send(MODELS[provider], it.file(PDF, "application/pdf", "a.pdf", "native"))
        assert sent.how == "reference" and "may not keep files as yet: allow it in Settings" in sent.why
        assert it.store.uploads == []


async def test_who_keeps_no_files_is_said_so(tmp_path: Path):
    async with sender("ollama", tmp_path) as it:
        [sent] = await it.send("ollama/llava", it.file(PDF, "application/pdf", "a.pdf", "native"))
    assert (sent.how, sent.why) == ("reference", "Ollama keeps no files")
    async with sender("openai", tmp_path / "openai") as it:
        it.allow("openai")
        [sent] = await it.send("openai/gpt-4o", it.image(picture(), "native"))
    assert (sent.how, sent.why) == ("reference", "gpt-4o reads no pictures out of OpenAI's store")


async def test_a_picture_is_kept_without_what_its_camera_wrote(tmp_path: Path):
    async with sender("anthropic", tmp_path) as it:
        it.allow("anthropic")
        photo = it.image(picture((80, 40), "JPEG", turned=6), "native", media_type="image/jpeg")
        [sent] = await it.send(MODELS["anthropic"], photo)
        [kept] = it.store.uploads
        assert blocks(it.body)[-1] == {"type": "image", "source": {"type": "file", "file_id": kept.id}}
    assert b"Camera" not in kept.content and (sent.width, sent.height, sent.size) == (40, 80, len(kept.content))


async def test_what_is_large_or_sent_again_is_uploaded_by_itself_once_that_is_allowed(tmp_path: Path):
    async with sender("gemini", tmp_path) as it:
        large, small = (it.file(PDF + bytes(size), "application/pdf", "a.pdf") for size in (5 * 1024**2, 9))
        video, name = it.file(MP4, "video/mp4", "a.mp4"), MODELS["gemini"]
        assert [one.how for one in await it.send(name, large, small, video)] == ["inline"] * 3
        it.allow("gemini")
        assert [one.how for one in await it.send(name, large, small, video)] == ["native", "inline", "native"]
        before = (user_message("first", small), user_message("ok").model_copy(update={"role": "assistant"}))
        assert [one.how for one in await it.send(name, before=before)] == ["native"]
        it.store.refuses = True
        other = it.file(PDF + bytes(5 * 1024**2 + 1), "application/pdf", "b.pdf")
        [sent] = await it.send(name, other)
        assert (sent.how, sent.why) == ("inline", "")
        [sent] = await it.send(name, other.model_copy(update={"disposition": "native"}))
        assert sent.how == "reference" and sent.why == "Google Gemini answered 507: “The store is full.”"


async def test_google_is_waited_for_until_a_video_is_ready(tmp_path: Path):
    async with sender("gemini", tmp_path) as it:
        it.allow("gemini")
        it.store.processing = 3
        await it.send(MODELS["gemini"], it.file(MP4, "video/mp4", "a.mp4"))
        assert it.store.processing == 0
        assert blocks(it.body)[-1] == {"file_data": {"file_uri": f"{URI}abcdefgh0001", "mime_type": "video/mp4"}}


async def test_what_expires_soon_is_uploaded_anew(tmp_path: Path):
    async with sender("gemini", tmp_path) as it:
        it.allow("gemini")
        file = it.file(PDF, "application/pdf", "a.pdf", "native")
        it.store.expires = (now() + timedelta(hours=48)).isoformat()
        for minutes, uploads in ((48 * 60, 1), (6, 1), (4, 2)):
            await it.send(MODELS["gemini"], file)
            [row] = it.kept.all()
            assert row.expires_at.isoformat() == it.store.expires
            await it.kept.save(row.model_copy(update={"expires_at": now() + timedelta(minutes=minutes)}))
            await it.send(MODELS["gemini"], file)
            assert len(it.store.uploads) == uploads
            await it.kept.save(row)
    async with sender("anthropic", tmp_path / "anthropic") as it:
        it.allow("anthropic")
        await it.send(MODELS["anthropic"], file := it.file(PDF, "application/pdf", "a.pdf", "native"))
        [row] = it.kept.all()
        assert timedelta() < now() + KEPT - row.expires_at < timedelta(minutes=1)
        await it.kept.save(row.model_copy(update={"expires_at": now()}))
        await it.send(MODELS["anthropic"], file)
        assert [one.id for one in it.store.uploads] == ["file-Kept00000001", "file-Kept00000002"]


@pytest.mark.parametrize("provider", NATIVE)
async def test_what_the_provider_has_lost_is_uploaded_again_within_the_same_call(provider: str, tmp_path: Path):
    async with sender(provider, tmp_path) as it:
        it.allow(provider)
        file = it.file(PDF, "application/pdf", "a.pdf", "native")
        await it.send(MODELS[provider], file)
        it.store.files.clear()
        await it.send(MODELS[provider], file)
        assert len(it.store.uploads) == 2 and sum(it.fake.seen.hits.values()) == 3
        assert len(it.kept.all()) == 1


@pytest.mark.parametrize("provider", NATIVE)
async def test_after_a_second_loss_the_call_fails_and_names_no_id(provider: str, tmp_path: Path):
    async with sender(provider, tmp_path) as it:
        it.allow(provider)
        file = it.file(PDF, "application/pdf", "a.pdf", "native")
        await it.send(MODELS[provider], file)
        it.store.forgets = True
        with pytest.raises(ModelFailure) as failed:
            await it.send(MODELS[provider], file)
    assert "Kept0000" not in failed.value.text and "abcdefgh" not in failed.value.text


@pytest.mark.parametrize("provider", NATIVE)
async def test_it_is_deleted_with_the_last_session_it_belongs_to(provider: str, tmp_path: Path):
    async with sender(provider, tmp_path) as it:
        it.allow(provider)
        file = it.file(PDF, "application/pdf", "a.pdf", "native")
        it.sessions.add("s2")
        for session in ("s1", "s2"):
            await it.send(MODELS[provider], file, session=session)
        it.sessions.discard("s1")
        await it.files.sweep()
        assert it.store.deleted == [] and len(it.store.uploads) == 1
        it.sessions.discard("s2")
        await it.files.sweep()
        assert it.store.deleted == [it.store.uploads[0].id] and it.kept.all() == []


async def test_a_file_of_another_key_is_neither_used_nor_deleted_with_this_one(tmp_path: Path):
    async with sender("openai", tmp_path) as it:
        it.allow("openai")
        file = it.file(PDF, "application/pdf", "a.pdf", "native")
        await it.send("openai/gpt-4o", file)
        [row] = it.kept.all()
        other = row.model_copy(update={"account": "f" * 32, "key": "other", "file_id": "file-other", "sessions": ()})
        await it.kept.save(other)
        await it.files.sweep()
        assert {one.key for one in it.kept.all()} == {row.key, "other"} and it.store.deleted == []
        await it.kept.save(other.model_copy(update={"expires_at": now() - timedelta(seconds=1)}))
        await it.files.sweep()
        assert [one.key for one in it.kept.all()] == [row.key]
        await it.files.remove("openai")
        assert it.store.deleted == [row.file_id] and it.kept.all() == []


async def test_who_asks_at_once_shares_an_upload(tmp_path: Path):
    async with sender("openai", tmp_path) as it:
        content = Content(PDF, "a.pdf", "application/pdf")
        ids = await asyncio.gather(*(it.files.id_of("openai", content, "s1") for _ in range(3)))
        assert len(set(ids)) == 1 and len(it.store.uploads) == 1


async def test_sessions_that_wait_for_one_upload_are_all_noted_with_it(tmp_path: Path):
    async with sender("openai", tmp_path) as it:
        content = Content(PDF, "a.pdf", "application/pdf")
        await asyncio.gather(*(it.files.id_of("openai", content, session) for session in ("s1", "s2", "s3")))
        [row] = it.kept.all()
        assert sorted(row.sessions) == ["s1", "s2", "s3"] and len(it.store.uploads) == 1


async def test_whoever_is_cancelled_leaves_nothing_there_that_is_not_noted(tmp_path: Path):
    async with sender("openai", tmp_path) as it:
        it.allow("openai")
        loop, awaited = asyncio.get_running_loop(), count(1)
        for nth in awaited:
            file = it.file(PDF + str(nth).encode(), "application/pdf", "a.pdf", "native")
            cancelled = AtAwait(it.send.__qualname__, nth)
            loop.set_task_factory(cancelled)
            task = loop.create_task(it.send("openai/gpt-4o", file))
            loop.set_task_factory(None)
            await asyncio.wait([task])
            while begun := [one for one in asyncio.all_tasks() if one.get_name().startswith("upload ")]:
                await asyncio.wait(begun)
            assert {row.file_id for row in it.kept.all()} == set(it.store.files)
            if not task.cancelled():
                break
        assert next(awaited) > 5


async def test_who_is_cancelled_while_the_answer_is_awaited_leaves_the_upload_noted(tmp_path: Path):
    async with sender("openai", tmp_path) as it:
        it.allow("openai")
        it.store.holds = asyncio.Event()
        task = asyncio.create_task(it.send("openai/gpt-4o", it.file(PDF, "application/pdf", "a.pdf", "native")))
        await until(lambda: it.store.uploads)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() and it.kept.all() == []
        it.store.holds.set()
        await until(it.kept.all)
        assert {row.file_id for row in it.kept.all()} == set(it.store.files)


async def test_a_key_that_is_missing_and_a_store_that_is_away_are_said(tmp_path: Path):
    content = Content(PDF, "a.pdf", "application/pdf")
    async with sender("openai", tmp_path) as it:
        await it.fake.stop()
        with pytest.raises(NotKept, match="OpenAI could not be reached"):
            await it.files.id_of("openai", content, "s1")
        with pytest.raises(NotKept, match="no key to upload it with"):
            await it.files.id_of("groq", content, "s1")
