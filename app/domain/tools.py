"""Tools as the model sees them, and what a call of one gives back."""

import asyncio
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, Protocol

from pydantic import ConfigDict, Field, JsonValue

from app.domain.errors import FailureClass
from app.domain.messages import AppPart, FilePart, ImagePart, ResultPart, TextPart, ToolStatus
from app.domain.values import Text, Value

Policy = Literal["auto", "ask", "off"]
JsonSchema = dict[str, JsonValue]
FIND_TOOLS = "find_tools"
"""The tool that finds those that do not fit into a model's context."""
DEPTH = "agent-playground/depth"
"""What one app tells another over MCP of a call that an agent makes: how many runs are above the one it begins."""
Caller = Literal["model", "app"]
EVERYBODY: tuple[Caller, ...] = ("model", "app")


def stricter(one: Policy, other: Policy) -> Policy:
    return max(one, other, key=("auto", "ask", "off").index)


class ToolSpec(Value):
    """A tool's face: all that a model is told of it, and how a person is shown it."""

    name: str
    description: str
    parameters: JsonSchema
    """JSON Schema of the arguments, as it is sent to the model."""
    title: str = ""
    icon: str = "build"
    """A Material icon's name."""
    kit: str = ""
    """The kit it belongs to; its name then starts with `kit__`."""
    idempotent: bool = False
    """True when calling it twice does the same as calling it once."""
    side_effects: bool = False
    """True when it changes something outside the conversation; the trace is on disk before it runs."""
    cancellable: bool = True
    handles: tuple[str, ...] = ()
    """Media types of files it can open; `*` stands for anything."""
    view: str = Field(default="", exclude_if=lambda view: not view)
    """The address (`ui://…`) of the view that a call of it brings along; empty for none."""
    callers: tuple[Caller, ...] = Field(default=EVERYBODY, exclude_if=lambda callers: callers == EVERYBODY)
    """Who may call it. What says nothing new is left out of the JSON, so that digests stay as they were."""

    def opens(self, media_type: str) -> bool:
        """Whether it says that it can open a file of that type."""
        return any(fnmatchcase(media_type, pattern) for pattern in self.handles)


class GrantedTool(Value):
    """A tool as it stood when the run began, and whether a person is asked first."""

    spec: ToolSpec
    policy: Policy = "auto"


class ToolOutput(Value):
    """What a tool returned."""

    parts: tuple[ResultPart, ...] = ()
    printed: Text = ""
    """What it wrote to its standard output and error."""
    status: ToolStatus = "ok"
    """Something else only where a recorded failure is answered again; a tool that fails raises."""

    @classmethod
    def of_text(cls, text: str, printed: str = "") -> "ToolOutput":
        return cls(parts=(TextPart(text=text),), printed=printed)


class FileWrite(Value):
    """What a write did to a session file."""

    path: str
    before: str | None
    """The sha256 of what was there, `None` for a new file."""
    after: str
    size: int
    """Bytes."""


class SessionFiles(Protocol):
    """The files of a session: a folder of names only, each naming an artifact; no path leads out of it."""

    def digests(self) -> Mapping[str, str]:
        """Path to sha256 of every file, as of now."""
        ...

    async def read(self, path: str) -> bytes:
        """The file's bytes; `ToolError` where there is none."""
        ...

    async def write(self, path: str, content: bytes) -> FileWrite:
        """Write or replace the file; the trace gets a `FileChanged`."""
        ...


class SignInRequest(Value):
    """What a server asks its owner to agree to in a browser."""

    server: str
    host: str
    """Where one signs in: host and port of the authorization server."""
    scopes: tuple[str, ...] = ()


class Question(Value):
    """What a tool asks the person in the middle of a call."""

    text: str
    asked_by: str = ""
    """Who asks, such as the name of an MCP server."""
    form: JsonSchema | None = None
    """JSON Schema of the values that answer it; `None` for a mere yes or no."""
    sign_in: SignInRequest | None = None
    """Where it is answered by signing in, which the person does elsewhere."""


class Answer(Value):
    decision: Literal["accept", "decline", "cancel"]
    values: dict[str, JsonValue] = {}
    note: str = ""
    """Why it was declined, where somebody said so."""


class Progress(Value):
    """How far a running call is, as the tool itself counts."""

    done: float
    total: float | None = None
    text: str = ""


class Workspace(Value):
    """What a run had at hand when it began."""

    files: dict[str, str] = {}
    """Path to sha256 of every session file."""
    variables: dict[str, str] = {}
    """The prompt variables and what was filled in for them."""
    depth: int = 0
    """How many runs are above it."""


class Task(Value):
    """Work that an agent hands to a run of its own."""

    model_config = ConfigDict(defer_build=True)  # the app's start makes none

    text: str
    agent: str = ""
    """The slug or name of the agent that does it; empty for the one that hands it over."""
    tools: tuple[str, ...] | None = None
    """The only tools and kits it may use; `None` for all that both agents may."""
    variant: int | None = None
    """`None` for the active one."""
    variables: dict[str, str] = {}
    """What its prompt's variables stand for, or the fields of its input besides the text."""
    seconds: float | None = None
    """The most time that it may take, waiting for people not counted; `None` for its own limit."""


class TaskEnd(Value):
    """What came of a task."""

    model_config = ConfigDict(defer_build=True)

    task_id: str
    """The id of its run."""
    status: str
    answer: str
    error: str = ""
    """Why it did not come to its end."""
    failure: FailureClass | None = None
    """The class of that."""
    output_schema: JsonSchema | None = None
    """What its answer should fit."""
    gave: tuple[JsonValue] | None = None
    """What the output of a workflow gave, which may be null; `None` for any other agent."""
    changed: bool = False
    """Whether it began anything that should not be done twice."""
    cost: float | None = None
    """US dollars, with those of the tasks that it handed on; `None` where nobody said what the model costs."""
    files: tuple[str, ...] = ()
    """Paths it has changed, which are so here from now on."""
    kept: tuple[str, ...] = ()
    """Paths it has changed that were changed here too: they stay as they are here."""


class CallContext(Protocol):
    """What a tool may use while it is called."""

    @property
    def call_id(self) -> str: ...

    @property
    def files(self) -> SessionFiles: ...

    @property
    def began_with(self) -> Workspace:
        """Files and variables as they were before the run changed anything."""
        ...

    @property
    def unsent(self) -> Sequence[ToolSpec]:
        """The run's tools that the model was not told of yet, for they do not all fit."""
        ...

    def load(self, names: Sequence[str]) -> None:
        """Tell the model of these from its next call on."""
        ...

    def printed(self, text: str) -> None:
        """Show `text` on the call's card at once; the tool still returns it in `ToolOutput.printed`."""
        ...

    def progressed(self, progress: Progress) -> None:
        """Show how far the call is, and give it the tool's whole time-out again from now on."""
        ...

    async def keep(self, content: bytes, *, media_type: str, filename: str) -> ImagePart | FilePart:
        """Store content as an artifact; the part names it in the tool's output."""
        ...

    def bring(self, view: AppPart) -> None:
        """The call has this view: it is shown however the call ends. The last one counts."""
        ...

    async def result(self, ref: str) -> bytes:
        """A file or big result that an earlier tool result or message of this session names.

        `ref` is its sha256 or the first 12 or more digits of it. Raises `ToolError` where nothing of the session is
        called so.
        """
        ...

    async def ask(self, question: Question, until: "asyncio.Future[Answer] | None" = None) -> Answer:
        """Ask the person; the time-out stands still until they answer. `decline` where there is nobody to ask.

        What `until` comes to answers it as well.
        """
        ...

    async def spawn(self, task: Task) -> str:
        """Start a run for the task and return its id while it goes on; called again by the same call, the same id.

        Raises `ToolError` where it may not be started.
        """
        ...

    async def join(self, task_id: str) -> TaskEnd:
        """Wait until that run has ended, which is let go on where it was left; the time-out stands still meanwhile.

        Raises `ToolError` where nothing of this session was started under that id.
        """
        ...


def canonical_name(name: str) -> str:
    """The spelling under which a tool or kit is known: `-` and `_` are the same."""
    return name.replace("-", "_")
