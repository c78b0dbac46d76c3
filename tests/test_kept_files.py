"""What providers keep of a session: no trace and no export names it, and it goes with the session."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.events import ModelCalled
from app.domain.messages import FilePart
from app.export.exports import FORMATS
from app.workbench import Workbench
from tests.api.over import opened
from tests.fakes.anthropic import FakeAnthropic
from tests.llm.sending import PDF
from tests.waiting import until

At = Callable[[str], None]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> At:
    """Leads Anthropic's models there."""

    def lead(url: str) -> None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-fake-0123456789")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)

    return lead


async def sent(workbench: Workbench) -> tuple[str, str]:
    """A session whose first message had a file that the provider keeps, and its run."""
    agent = new_agent(
        "Reader", PromptBehaviour(model="anthropic/claude-sonnet-4-5"), taken_slugs=workbench.agents.slugs()
    )
    session = await workbench.chat.new_session((await workbench.agents.create(agent)).id)
    await workbench.provider_desk.let_keep("anthropic", allowed=True)
    facts = {"media_type": "application/pdf", "filename": "a.pdf", "size": len(PDF), "disposition": "native"}
    file = FilePart.model_validate({"artifact": await workbench.artifacts.put(PDF), **facts})
    run = await workbench.chat.send(session.id, "Read it", (file,))
    await run.ended()
    assert run.status == "completed", run.entries[-1]
    return session.id, run.run_id


def holding(folder: Path, words: bytes) -> list[str]:
    """The files below it in which they stand."""
    return [path.name for path in folder.rglob("*") if path.is_file() and words in path.read_bytes()]


async def test_its_id_is_in_no_trace_and_no_export(tmp_path: Path, at: At):
    async with FakeAnthropic() as fake:
        at(fake.url)
        workbench = opened(tmp_path)
        _, run_id = await sent(workbench)
        trace = await workbench.runs.trace(run_id)
        [called] = [entry.event for entry in trace.entries if isinstance(entry.event, ModelCalled)]
        assert [one.how for one in called.attachments] == ["native"]
        [kept] = fake.store.uploads
        for format in FORMATS:
            exported = await workbench.exports.export(run_id, format)
            assert kept.id.encode() not in exported.content
        await workbench.close()
        assert holding(tmp_path, kept.id.encode()) == ["app.tdb"]


async def test_it_is_deleted_with_its_session_or_by_the_next_start(tmp_path: Path, at: At):
    async with FakeAnthropic() as fake:
        at(fake.url)
        workbench = opened(tmp_path)
        session_id, _ = await sent(workbench)
        await workbench.sessions.delete(session_id)
        await until(lambda: fake.store.deleted)
        await until(lambda: not workbench.data.kept_provider_files.all())
        session_id, _ = await sent(workbench)
        refused = fake.store.files.copy()
        fake.store.broken = True
        await workbench.sessions.delete(session_id)
        await until(lambda: fake.store.asked_to_delete == 2)
        await workbench.close()
        assert fake.store.files == refused
        fake.store.broken = False
        workbench = opened(tmp_path)
        await workbench.warm()
        assert fake.store.files == {} and workbench.data.kept_provider_files.all() == []
        await workbench.close()
