"""The trace: everything that happened in a run, in order.

A run is a list of entries; an entry is an event with its place and time. Entries are only ever appended, never changed:
work that takes time is two events sharing a `call_id` (`ToolCalled`, then `ToolReturned`), not one event filled in
later. What can be computed from the list is never an event: see `trace/`.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, JsonValue

from app.domain.agents import LimitName, Limits, Parameters
from app.domain.edits import ActedOut, ToolSource
from app.domain.errors import ErrorInfo, FailureClass
from app.domain.messages import FilePart, FinishReason, Message, SentAttachment, ToolResult, Usage
from app.domain.provenance import AgentRef, Imported, Parent, Purpose, Trigger
from app.domain.tools import GrantedTool, JsonSchema
from app.domain.values import Text, Value
from app.domain.workflows.document import Workflow
from app.domain.workflows.schedule import NodeStatus

FORMAT = 2
"""The highest number of a trace format that is written and read here; a reader refuses a higher one in words."""
PLAIN_FORMAT = 1
"""That of a run without nodes, which the first readers know too."""

Origin = Literal["user", "queued", "steer", "app", "model"]
Decision = Literal["approve", "always", "deny", "edit", "answer"]
"""`always` approves, and lets this session call the tool without asking from then on."""
FinalStatus = Literal["completed", "failed", "cancelled", "limited"]


class RunStarted(Value):
    type: Literal["run_started"] = "run_started"
    session_id: str
    agent: AgentRef
    model: str
    """Empty for a workflow, whose nodes have their own."""
    parameters: Parameters = Parameters()
    limits: Limits = Limits()
    system: Message | None = None
    """The system prompt with its variables filled in."""
    variables: dict[str, str] = {}
    tools: tuple[GrantedTool, ...] = ()
    unsent: tuple[str, ...] = ()
    """The names of those whose schemas are not sent before the agent has found them."""
    history: tuple[Message, ...] = ()
    """What was said in the session before this run."""
    files: dict[str, str] = {}
    """The session's files when the run began: path to sha256."""
    follows: str | None = None
    """The run before it on its branch of the session; empty for a first one, `None` in old runs, which do not say."""
    output_schema: dict[str, JsonValue] | None = None
    workflow: Workflow | None = None
    """The nodes that are run, where no model is asked; its agents' variants are those that were active then."""
    format: int = Field(default_factory=lambda given: FORMAT if given.get("workflow") else PLAIN_FORMAT)
    """What a reader has to know, by the fields before."""
    attachments: dict[str, str] = {}
    """What its agent does with attachments, by their media type."""
    trigger: Trigger = Trigger(kind="page")
    purpose: Purpose = "chat"
    parent: Parent | None = None
    depth: int = 0
    background: bool = False
    """Nobody waits for its answer: it is a job."""
    imported: Imported | None = None
    unpriced_agreed: bool = False
    """Its user agreed, earlier in the session, to a model of which nobody said what it costs."""


class MessageAdded(Value):
    """A message joined the conversation. Tool results join it by `ToolReturned`."""

    type: Literal["message_added"] = "message_added"
    message: Message
    origin: Origin
    waited_ms: float | None = None
    """How long it had waited in its session's queue: 0 where nothing was in its way, `None` where it never was there.

    Old traces do not say it of those that were.
    """


class ModelCalled(Value):
    """The model was asked: with the run's system prompt and tools, and the conversation as it stood here."""

    type: Literal["model_called"] = "model_called"
    call_id: str
    model: str
    parameters: Parameters
    message_count: int
    """How many messages of the conversation were sent; `trace.conversation` up to here names them."""
    attempt: int = 1
    attachments: tuple[SentAttachment, ...] = ()
    """How each file and picture of these messages went along, the oldest first."""


class ModelReturned(Value):
    """The model answered; the message stands before it, in `MessageAdded`."""

    type: Literal["model_returned"] = "model_returned"
    call_id: str
    usage: Usage
    cost: float | None
    """US dollars, or `None`: unpriced."""
    finish_reason: FinishReason | None
    """`None` when the answer was cut off from here."""
    first_token_ms: float | None
    total_ms: float


class ModelFailed(Value):
    type: Literal["model_failed"] = "model_failed"
    call_id: str
    failure: FailureClass
    text: str
    attempt: int
    retry_at: datetime | None = None
    """When it is tried again; `None` when it is not."""


class ToolCalled(Value):
    type: Literal["tool_called"] = "tool_called"
    call_id: str
    name: str
    arguments: dict[str, JsonValue]
    tool: str = ""
    """The digest of the tool's spec; empty for a tool that does not exist."""
    label: Text = ""
    """Whose the tool was and its name, such as `weather › forecast`; empty for one of the app itself."""


class ToolReturned(Value):
    """A tool call ended; its result is the tool message that the model gets."""

    type: Literal["tool_returned"] = "tool_returned"
    call_id: str
    result: ToolResult
    printed: Text = ""
    ms: float
    traceback: Text = ""
    loaded: tuple[str, ...] = ()
    """The names of the tools that it found, whose schemas are sent from the next call on."""
    attempts: int = 1
    """How often it was tried: a tool that breaks down is called again where that does no harm."""
    times: int = 1
    """How many calls it stands for: a view that asks the same again and again is counted, not told each time."""


class FileChanged(Value):
    """A session file was written or removed by a tool call."""

    type: Literal["file_changed"] = "file_changed"
    call_id: str
    path: str
    before: str | None
    """The sha256 of what was there, `None` for a new file."""
    after: str | None
    """The sha256 of what is there now, `None` for a removed file."""


class PauseRequested(Value):
    """The run waits for a person."""

    type: Literal["pause_requested"] = "pause_requested"
    pause_id: str
    reason: Literal["approval", "question", "oauth", "steer"]
    call_id: str = ""
    name: str = ""
    arguments: dict[str, JsonValue] = {}
    question: Text = ""
    asked_by: Text = ""
    """Who asks, such as the name of an MCP server; empty for the tool itself."""
    form: JsonSchema | None = None
    """JSON Schema of the values that answer a question; they come as the arguments of the decision."""
    tool: str = ""
    """The digest of the spec of the tool that is to be called."""
    label: Text = ""
    """Whose that tool is and its name; empty for one of the app itself."""
    begun: bool = False
    """True when the call had begun before the app ended, so that to approve it may make it happen twice."""

    @property
    def subject(self) -> str:
        """The digest of what is decided on, the same whenever the same is asked: a decision is good for that only."""
        return self.model_copy(update={"pause_id": ""}).digest


class PauseResolved(Value):
    type: Literal["pause_resolved"] = "pause_resolved"
    pause_id: str
    decision: Decision
    arguments: dict[str, JsonValue] | None = None
    """The arguments as decided, where they were edited."""
    note: str = ""
    by: str = "user"
    subject: str = ""
    """The digest of what was decided on, as it was shown; empty where that was not said."""


class LeftOut(Value):
    """A message that was not sent, or sent as a stub, by its place in the conversation."""

    message: int
    how: Literal["dropped", "stub"]


class ContextTrimmed(Value):
    type: Literal["context_trimmed"] = "context_trimmed"
    left_out: tuple[LeftOut, ...]
    tokens_before: int
    tokens_after: int


class LimitReached(Value):
    type: Literal["limit_reached"] = "limit_reached"
    limit: LimitName
    allowed: float
    reached: float
    """In the limit's own unit: steps, seconds, tokens, US dollars, calls, bytes, levels."""


class ChildStarted(Value):
    type: Literal["child_started"] = "child_started"
    call_id: str
    child_run_id: str
    of_run: str = ""
    """The run that started it, where this one was only told again what the call gave there."""


class ChildFinished(Value):
    type: Literal["child_finished"] = "child_finished"
    call_id: str
    child_run_id: str
    status: FinalStatus


class NodeStarted(Value):
    """A node of a workflow began a try; whether its inputs fit was found before."""

    type: Literal["node_started"] = "node_started"
    call_id: str
    """`each[3].draft`: the same for the same node in the same rounds. What a try calls has `inner_call` of it."""
    node: str
    """Its id in the run's workflow."""
    rounds: tuple[int, ...] = ()
    """From 0, of the outermost map or loop first."""
    attempt: int = 1
    inputs: dict[str, JsonValue] = {}
    """What its bindings came to, by their names; where `whole` is there, the beginning of it."""
    inputs_digest: str = ""
    """The sha256 of all of its inputs as JSON."""
    whole: FilePart | None = None
    """The file that holds inputs too large for the trace, as JSON."""
    of: int | None = None
    """For a map how many items it goes through, for a loop how many rounds at most."""


class NodeEnded(Value):
    """A try of a node ended; without a start before it, the node was skipped."""

    type: Literal["node_ended"] = "node_ended"
    call_id: str
    node: str
    rounds: tuple[int, ...] = ()
    attempt: int = 1
    status: NodeStatus
    port: str | None = None
    """Where it goes on; `None` where it leads nowhere."""
    output: JsonValue = None
    """What it gave; where `whole` is there, the beginning of it as text."""
    as_returned: bool = False
    """It gave what its tool returned, read as JSON where it is, so that it is not told twice."""
    whole: FilePart | None = None
    """The file that holds an output too large for the trace, as JSON."""
    error: ErrorInfo | None = None
    """Why the try failed. Where it goes on at a port all the same, its output is what stands in for a value."""
    retry_at: datetime | None = None
    """When it is tried again; `None` when this was its end."""
    pinned: bool = False
    """A person wrote its output; it did not run."""
    ms: float = 0.0


class RunResumed(Value):
    """The run went on after the process that ran it had ended, or after a pause across a restart."""

    type: Literal["run_resumed"] = "run_resumed"
    by: str = "user"
    notes: tuple[str, ...] = ()
    """A sentence for each tool that has changed or gone since the run began."""


class Forked(Value):
    """The end of the prefix that a fork copied."""

    type: Literal["forked"] = "forked"
    run_id: str
    seq: int
    """The place, in that run, of the last entry that was copied."""
    prefix_digest: str
    """The digest of the last entry that was copied."""
    edited: tuple[int, ...] = ()
    """Places of the copied prefix whose entries are not as they were."""
    sources: dict[str, ToolSource] = {}
    """By name; a tool that is not here is live."""
    acted_out: ActedOut | None = None


class RunFinished(Value):
    """Always the last event of a run."""

    type: Literal["run_finished"] = "run_finished"
    status: FinalStatus
    error: ErrorInfo | None = None


Event = Annotated[
    RunStarted
    | MessageAdded
    | ModelCalled
    | ModelReturned
    | ModelFailed
    | ToolCalled
    | ToolReturned
    | FileChanged
    | PauseRequested
    | PauseResolved
    | ContextTrimmed
    | LimitReached
    | ChildStarted
    | ChildFinished
    | NodeStarted
    | NodeEnded
    | RunResumed
    | Forked
    | RunFinished,
    Field(discriminator="type"),
]


class Entry(Value):
    """An event in its place in the trace."""

    run_id: str
    seq: int
    """Counts from 0 without a gap."""
    at: AwareDatetime
    event: Event
