"""How an agent answers: all that a variant keeps and a draft changes, by its kind."""

from collections.abc import Mapping
from typing import Annotated, Literal, assert_never

from pydantic import Discriminator, Field, JsonValue, Tag

from app.domain.errors import WorkbenchError
from app.domain.messages import Disposition, MediaPattern
from app.domain.tools import Policy, stricter
from app.domain.values import Value
from app.domain.workflows.document import TEXT, InputNode, OutputNode, ToolNode, Workflow


class Parameters(Value):
    """How a model is asked. `None` leaves a choice to the provider."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    max_tokens: int = Field(default=4096, ge=1)
    """Tokens of one answer at most."""
    stop: tuple[str, ...] = ()
    seed: int | None = None
    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = None
    parallel_tool_calls: bool = True


LimitName = Literal[
    "steps",
    "time",
    "tokens",
    "run_tokens",
    "run_cost",
    "session_cost",
    "day_cost",
    "app_day_cost",
    "app_month_cost",
    "repeats",
    "result_size",
    "depth",
    "nodes",
]
"""What a run is held to, and what its end by that is called."""


class Limits(Value):
    """What a run may use up. Times in seconds, money in US dollars."""

    max_steps: int = Field(default=10, ge=1)
    """Model calls in one run."""
    idle_timeout: float = Field(default=60, gt=0)
    """Silence of the provider within one answer."""
    total_time: float = Field(default=600, gt=0)
    """The whole run, waiting for a retry or for a person not counted."""
    tool_timeout: float = Field(default=10, gt=0)
    retries: int = Field(default=2, ge=0)
    """Further attempts of a model call or a tool call that failed."""
    retry_on_error: bool = True
    """Whether tools that say they are idempotent are called again when they break down or take too long."""
    run_tokens: int = Field(default=0, ge=0)
    """All tokens of one run, prompts and answers; 0 for no ceiling."""
    run_cost: float = Field(default=1.0, ge=0)
    session_cost: float = Field(default=0.0, ge=0)
    """All runs of one session together; 0 for no ceiling."""
    day_cost: float = Field(default=10.0, ge=0)
    repeats: int = Field(default=3, ge=0)
    """How often in a row a tool may be called with the same arguments and give the same result; 0 for no ceiling."""
    result_size: int = Field(default=10_000_000, ge=0)
    """Bytes of one tool result; 0 for no ceiling."""
    spawn_depth: int = Field(default=4, ge=0)
    nodes: int = Field(default=1000, ge=0)
    """How many nodes of a workflow may begin in one run, each round of a map or loop counted; 0 for no ceiling."""


class ToolChoice(Value):
    """A tool or a whole kit that a variant may use, and whether a person is asked first."""

    name: str
    policy: Policy = "auto"


class Variable(Value):
    """A `{{name}}` in a system prompt."""

    name: str
    default: str = ""
    description: str = ""


ToolLoading = Literal["auto", "all", "on_demand"]
"""Whether the schemas of all tools are sent at once, or those that an agent has found; `auto` as they fit."""


class PromptBehaviour(Value):
    """A model is asked with a prompt and tools until it answers."""

    kind: Literal["prompt"] = "prompt"
    system_prompt: str = ""
    variables: tuple[Variable, ...] = ()
    model: str = "demo/agent"
    """`provider/model`, or an alias out of the catalog."""
    parameters: Parameters = Parameters()
    tools: tuple[ToolChoice, ...] = ()
    tool_loading: ToolLoading = "auto"
    limits: Limits = Limits()
    output_schema: dict[str, JsonValue] | None = None
    attachments: dict[MediaPattern, Disposition] = {}
    """What it does with attachments of which nobody said otherwise, by their media type."""


WORKFLOW_LIMITS = Limits(total_time=3600)
"""What holds for a new workflow: many nodes take longer than one answer."""


class WorkflowBehaviour(Value):
    """The nodes of a workflow are run; it has no prompt and no model of its own."""

    kind: Literal["workflow"] = "workflow"
    workflow: Workflow
    limits: Limits = WORKFLOW_LIMITS


BehaviourKind = Literal["prompt", "workflow"]


def _kind_of(told: object) -> object:
    """What says no kind was written when there was one only."""
    return told.get("kind", "prompt") if isinstance(told, dict) else getattr(told, "kind", None)


Behaviour = Annotated[
    Annotated[PromptBehaviour, Tag("prompt")] | Annotated[WorkflowBehaviour, Tag("workflow")], Discriminator(_kind_of)
]
"""All that decides how an agent answers. Whoever has to know its kind takes it apart with `match`."""

NODES_MODELS = "its nodes' models"
BY_NODES = (
    "This agent is a workflow: its nodes have prompts, models and tools, and it has none of its own. Change its nodes "
    "in Build, or over /api/v1/workflows."
)


def by_prompt(behaviour: Behaviour) -> PromptBehaviour:
    """The behaviour where a prompt decides; raises `WorkbenchError` for any other, in words."""
    match behaviour:
        case PromptBehaviour():
            return behaviour
        case WorkflowBehaviour():
            raise WorkbenchError(BY_NODES)
        case _:
            assert_never(behaviour)


def model_of(behaviour: Behaviour) -> str | None:
    """The `provider/model`, or the alias, that it asks; `None` where it has no model of its own."""
    match behaviour:
        case PromptBehaviour(model=model):
            return model
        case WorkflowBehaviour():
            return None
        case _:
            assert_never(behaviour)


def model_words(behaviour: Behaviour, chosen: str | None = None) -> str:
    """What its model is called where it is shown, where none is `chosen` in its place."""
    own = model_of(behaviour)
    return chosen or (NODES_MODELS if own is None else own)


def check_model_choice(behaviour: Behaviour, model: str | None) -> None:
    """Raises `WorkbenchError` where a model is chosen for what has none of its own."""
    if model is not None and model_of(behaviour) is None:
        raise WorkbenchError(BY_NODES)


def tools_of(behaviour: Behaviour) -> tuple[ToolChoice, ...]:
    """The tools and kits that it names itself; the agents of a workflow have theirs besides."""
    match behaviour:
        case PromptBehaviour(tools=tools):
            return tools
        case WorkflowBehaviour(workflow=workflow):
            named: dict[str, Policy] = {}
            for node in workflow.nodes:
                if isinstance(node, ToolNode) and node.tool:
                    named[node.tool] = stricter(node.policy, named.get(node.tool, "auto"))
            return tuple(ToolChoice(name=name, policy=policy) for name, policy in named.items())
        case _:
            assert_never(behaviour)


def template_of(behaviour: Behaviour) -> str:
    """Its system prompt with `{{variables}}`; empty where it has none."""
    match behaviour:
        case PromptBehaviour(system_prompt=template):
            return template
        case WorkflowBehaviour():
            return ""
        case _:
            assert_never(behaviour)


def declared_of(behaviour: Behaviour) -> tuple[Variable, ...]:
    """The variables that it declares; of a workflow the fields of its input besides the text."""
    match behaviour:
        case PromptBehaviour(variables=declared):
            return declared
        case WorkflowBehaviour(workflow=workflow):
            inputs = (node.takes.get("properties") for node in workflow.nodes if isinstance(node, InputNode))
            fields = {name: one for told in inputs if isinstance(told, dict) for name, one in told.items()}
            return tuple(_field(name, schema) for name, schema in fields.items() if name != TEXT)
        case _:
            assert_never(behaviour)


def values_of(behaviour: Behaviour, given: Mapping[str, str]) -> dict[str, str]:
    """What its variables stand for: the values given, else their defaults; a workflow's input knows its own."""
    own = () if isinstance(behaviour, WorkflowBehaviour) else declared_of(behaviour)
    return {one.name: one.default for one in own} | dict(given)


def _field(name: str, schema: JsonValue) -> Variable:
    told = schema.get("description") if isinstance(schema, dict) else None
    return Variable(name=name, description=told if isinstance(told, str) else "")


def schema_of(behaviour: Behaviour) -> dict[str, JsonValue] | None:
    """The JSON Schema that its answer fits; `None` where it answers with text."""
    match behaviour:
        case PromptBehaviour(output_schema=schema):
            return schema
        case WorkflowBehaviour(workflow=workflow):
            schemas = [node.output_schema for node in workflow.nodes if isinstance(node, OutputNode)]
            return schemas[0] if len(schemas) == 1 else None
        case _:
            assert_never(behaviour)
