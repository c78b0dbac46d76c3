"""Where files are attached to the message that is being written, and to others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath

from nicegui import events, ui

from app.domain.comparisons import LETTERS
from app.domain.errors import WorkbenchError
from app.domain.messages import TOOL, Attachment, ImagePart, SentAttachment, sent_key, sent_words
from app.domain.sessions import Session
from app.domain.tools import ToolSpec
from app.domain.values import Value
from app.llm.attachments.file_stores import keeping
from app.llm.attachments.routes import Asked
from app.llm.providers.accepted import accepted_by
from app.llm.providers.providers import provider_named
from app.ui.conversation.given_tool import give_tool
from app.ui.elements.notices import problems_shown
from app.ui.elements.questions import agreed
from app.ui.elements.visible import title_of
from app.workbench import Workbench


class _Arrived(Value):
    id: int
    part: Attachment


class _Files(Value):
    """The files as the browser lists them."""

    arrived: tuple[_Arrived, ...]
    waiting: tuple[str, ...]
    """The names of those that are still on their way."""


class AttachedFiles(ui.element, component="attachments.js"):
    """Files that are uploaded for the session or dataset of that id; `kept` are there already.

    They are dropped into the `place`, and pasted in the `box`: selectors.
    """

    def __init__(self, workbench: Workbench, kept: Sequence[Attachment], holder: str, *, place: str, box: str) -> None:
        super().__init__()
        self._workbench = workbench
        self._arrived: Mapping[int, Attachment] = dict(enumerate(kept))
        self._waiting: tuple[str, ...] = ()
        self._refusal = ""
        """What was said when somebody asked for them too early."""
        self._props.update(
            holder=holder,
            place=place,
            box=box,
            kept=[part.model_dump(mode="json") for part in kept],
            pictures=self._pictures(),
            limit=workbench.preferences.get().largest_attachment,
        )
        self.on("change", self._changed)

    @property
    def parts(self) -> tuple[Attachment, ...]:
        """What has arrived, in the order of the page."""
        return tuple(self._arrived.values())

    def ready(self) -> tuple[Attachment, ...]:
        """What a message may carry now; raises `WorkbenchError` while a file is still on its way."""
        if self._waiting:
            self._refusal = f"“{self._waiting[0]}” is still being attached. Wait until it is there, or take it off."
            raise WorkbenchError(self._refusal)
        return self.parts

    async def _changed(self, event: events.GenericEventArguments) -> None:
        files = _Files.model_validate(event.args)
        self._arrived = {one.id: one.part for one in files.arrived}
        self._waiting = files.waiting
        if (pictures := self._pictures()) != self._props["pictures"]:
            self._props["pictures"] = pictures

    def _pictures(self) -> dict[str, str]:
        """Where each picture among them is shown from."""
        contents = self._workbench.contents
        return {part.artifact: contents.picture(part.artifact) for part in self.parts if isinstance(part, ImagePart)}


class Attachments(AttachedFiles):
    """Keeps what is attached with its session; `on_change` hears of it, `sent` takes what a message carried off.

    `unsay` gets what was said of a file that was still on its way, once all are there.
    `beside`: the sessions that get the same message, by id.
    """

    def __init__(
        self,
        workbench: Workbench,
        session: Session,
        *,
        on_change: Callable[[], None],
        unsay: Callable[[str], None],
        beside: Sequence[str] = (),
    ) -> None:
        super().__init__(workbench, session.composer_attachments, session.id, place=".session-main", box=".composer")
        self._receivers = (session.id, *beside)
        self._session_id = session.id
        self._on_change, self._unsay = on_change, unsay
        self.on("give", self._give)
        self.on("native", self._choose)

    def sent(self, parts: Sequence[Attachment]) -> None:
        """A message has taken these along."""
        gone = [number for number, part in self._arrived.items() if part in parts]
        self._arrived = {number: part for number, part in self._arrived.items() if number not in gone}
        self.run_method("sent", gone)

    async def describe(self) -> None:
        """Say of each how it would reach the model now."""
        arrived = self._arrived
        if not arrived:
            return
        told = [await self._words_in(session_id, arrived) for session_id in self._receivers]
        words = {number: said for number in arrived if (said := in_all([one.get(number) for one in told]))}
        self.run_method("describe", {number: asdict(one) for number, one in words.items()})

    async def _words_in(self, session_id: str, arrived: Mapping[int, Attachment]) -> dict[int, "Words"]:
        """How each would reach the model of that session."""
        try:
            request = await self._workbench.chat.next_request(session_id, attachments=tuple(arrived.values()))
            prepared = await self._workbench.models.prepared(request, uploading=False)
        except WorkbenchError:
            return {}  # the side panel says what stands in the way of the next turn
        asked = self._workbench.models.attachments.asked(request)
        paths = {sent_key(part): part for part in request.messages[-1].attachments}
        facts, others = prepared.sent or {}, self._workbench.tools.all()
        return {
            number: replace(
                attachment_words(paths[key], facts[key], request.tools, others),
                choices=choices_of(part, asked),
                has_detail=isinstance(part, ImagePart) and facts[key].width > 0,
            )
            for number, part in arrived.items()
            if (key := sent_key(part)) in paths and key in facts
        }

    async def _choose(self, event: events.GenericEventArguments) -> None:
        """Ask before a provider gets to keep a file for the first time; who says no sends it as it fits."""
        number = int(event.args)
        for name in dict.fromkeys([await self._provider_of(session_id) for session_id in self._receivers]):
            if not (name and accepted_by(name).native) or self._workbench.provider_files.may_keep(name):
                continue
            with self:
                title = provider_named(name).title
                words = f"{keeping(name, title)} You can take that back in Settings."
                if not await agreed(f"Let {title} keep files?", words, confirm="Let it", look="primary"):
                    self.run_method("choose", number, "auto")
                    return
            with problems_shown():
                await self._workbench.provider_desk.let_keep(name, allowed=True)
        await self.describe()

    async def _provider_of(self, session_id: str) -> str:
        try:
            request = await self._workbench.chat.next_request(session_id)
        except WorkbenchError:
            return ""
        return self._workbench.catalog.resolve(request.model).partition("/")[0]

    async def _give(self, event: events.GenericEventArguments) -> None:
        """Give the agent the tool that a chip offers."""
        with problems_shown():
            ui.notify(await give_tool(self._workbench, self._session_id, str(event.args)), timeout=5000)
        await self.describe()
        self._on_change()

    async def _changed(self, event: events.GenericEventArguments) -> None:
        await super()._changed(event)
        if not self._waiting:
            self._unsay(self._refusal)
        with problems_shown():
            await self._keep()
        await self.describe()
        self._on_change()

    async def _keep(self) -> None:
        parts = self.parts
        if parts != self._workbench.sessions.get(self._session_id).composer_attachments:
            await self._workbench.sessions.change(
                self._session_id, lambda newest: newest.model_copy(update={"composer_attachments": parts})
            )


MOST_TOOLS = 30
"""That are offered for one file, those first that open such."""


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    """A disposition."""
    label: str


@dataclass(frozen=True, slots=True)
class Words:
    text: str
    warns: bool = False
    """True when the model gets less than one may think."""
    tool: str = ""
    """The name of a tool that could open it, if the agent had it."""
    title: str = ""
    """What people call that tool."""
    choices: tuple[Choice, ...] = ()
    """The ways that can be chosen for it."""
    has_detail: bool = False
    """Whether it can be sent larger."""


def in_all(told: Sequence[Words | None]) -> Words | None:
    """What is said of a file that goes to several sessions, each under its letter where they differ."""
    known = [one for one in told if one is not None]
    if len(told) == 1 or not known:
        return known[0] if known else None
    text = known[0].text
    if len({one.text for one in known}) > 1:
        text = " ".join(f"{letter}: {one.text}." for letter, one in zip(LETTERS, told, strict=False) if one)
    choices = {choice.value: choice for one in known for choice in one.choices}
    has_detail = any(one.has_detail for one in known)
    return Words(text, warns=any(one.warns for one in known), choices=tuple(choices.values()), has_detail=has_detail)


def attachment_words(
    part: Attachment, fact: SentAttachment, tools: tuple[ToolSpec, ...], others: tuple[ToolSpec, ...] = ()
) -> Words:
    """`part` as the next message carries it, with its path and how it would go.

    `tools` are those the model may call, `others` those it could be given.
    """
    if fact.how != "reference":
        return Words(sent_words(fact))
    why = f"{_sentence(fact.why)} " if fact.why else ""
    if part.disposition.startswith(TOOL) and not why:
        return Words(f"As file {part.path}, meant for {part.disposition.removeprefix(TOOL)}")
    openers = ", ".join(tool.title or tool.name for tool in tools if tool.opens(part.media_type))
    if openers:
        return Words(f"{why}As file {part.path}, which {openers} can open", warns=bool(why))
    none = "Its name only: this agent has no tool to open it"
    if tools:
        none = f"As file {part.path}, but no tool of this agent says that it opens {_kind(part)}"
    able = [tool for tool in others if tool.opens(part.media_type) and not tool.side_effects]
    if not able:
        return Words(f"{why}{none}", warns=True)
    best = min(able, key=lambda tool: len(tool.handles))  # what opens little else is made for it
    return Words(f"{why}{none}", warns=True, tool=best.name, title=title_of(best))


def choices_of(part: Attachment, asked: Asked) -> tuple[Choice, ...]:
    """The ways that a person may choose for it: those that its model knows, and the agent's tools."""
    ways = [Choice("auto", "As fits"), Choice("inline", "Within the message"), Choice("reference", "As a file")]
    if accepted_by(asked.provider).native:
        ways.append(Choice("native", f"Uploaded to {asked.title}"))
    tools = sorted(asked.tools, key=lambda tool: not tool.opens(part.media_type))[:MOST_TOOLS]
    ways += [Choice(f"{TOOL}{tool.name}", f"For {title_of(tool)}") for tool in tools]
    known = any(one.value == part.disposition for one in ways)
    return (*ways, *(() if known else (Choice(part.disposition, part.disposition),)))


def _sentence(words: str) -> str:
    """As one, but for the name of a model at its beginning."""
    return f"{words[0].upper()}{words[1:]}." if words.partition(" ")[0].isalpha() else f"{words}."


def _kind(part: Attachment) -> str:
    """What files like it are called: by their ending, where there is one."""
    ending = PurePosixPath(part.path).suffix
    return f"{ending[1:].upper()} files" if ending else "such files"
