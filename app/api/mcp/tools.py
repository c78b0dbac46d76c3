"""An agent as a tool: its name, what it takes and what it gives back."""

from collections.abc import Iterable, Sequence

from mcp_types import Tool, ToolAnnotations
from pydantic import JsonValue

from app.api.mcp.eval_tools import LONGEST_WAIT, OF_EVALS
from app.domain.agents import Agent, declared_of, schema_of, template_of, tool_name
from app.domain.prompts import variables_of
from app.domain.tools import JsonSchema

GET_RUN, STOP_RUN = "get_run", "stop_run"
STATUS: dict[str, JsonValue] = {
    "type": "string",
    "enum": ["completed", "running", "paused"],
    "description": "While it is not completed, get_run tells what came of it.",
}
RUN_ID: dict[str, JsonValue] = {"type": "string", "description": "For get_run and stop_run."}
SESSION_ID: dict[str, JsonValue] = {"type": "string", "description": "To go on in the same conversation."}
UNFINISHED: JsonSchema = {
    "type": "object",
    "properties": {"status": STATUS, "run_id": RUN_ID, "session_id": SESSION_ID},
    "required": ["status", "run_id"],
}
ANSWERED: JsonSchema = {
    "type": "object",
    "properties": {
        "status": STATUS,
        "run_id": RUN_ID,
        "session_id": SESSION_ID,
        "output": {"type": "string", "description": "The agent's answer."},
    },
    "required": ["status", "run_id"],
}
_NAMED: JsonSchema = {
    "type": "object",
    "properties": {"run_id": {"type": "string", "description": "As the tool that began it has told."}},
    "required": ["run_id"],
    "additionalProperties": False,
}
_WAIT: JsonSchema = {
    "type": "number",
    "minimum": 0,
    "maximum": LONGEST_WAIT,
    "description": "Seconds to wait for its end; 0 where it is left out.",
}
OF_RUNS = (
    Tool(
        name=GET_RUN,
        title="Look after a run",
        description="Tells where a run stands that an agent was begun with: its status, its answer or its error, and "
        "what it waits for. With `wait` it answers as soon as the run has ended.",
        input_schema=_NAMED | {"properties": {"run_id": RUN_ID, "wait": _WAIT}},
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    ),
    Tool(
        name=STOP_RUN,
        title="Stop a run",
        description="Ends a run that goes on or waits, and keeps what it has said. One that is over stays as it is.",
        input_schema=_NAMED,
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    ),
)


def tools_of(agents: Iterable[Agent], *, evaluates: bool) -> list[Tool]:
    """A tool for each agent, then those that look after runs, and those for who may make agents better."""
    return [*map(_tool, agents), *OF_RUNS, *(OF_EVALS if evaluates else ())]


def agent_of(agents: Sequence[Agent], name: str) -> Agent | None:
    """The agent behind a tool's name."""
    return next((agent for agent in agents if tool_name(agent) == name), None)


def output_schema(agent: Agent) -> JsonSchema:
    """What the tool gives back: what the active variant's answers are made of, or where the run stands meanwhile."""
    own = schema_of(agent.active_variant.behaviour)
    if own is None or own.get("type") != "object":
        return ANSWERED
    # What it refers to stays where its references look for it.
    shared: JsonSchema = {name: said for name, said in own.items() if name in ("$defs", "definitions")}
    answer: JsonSchema = {name: said for name, said in own.items() if name not in (*shared, "$schema", "$id")}
    return {"type": "object", "anyOf": [answer, UNFINISHED], **shared}


def _tool(agent: Agent) -> Tool:
    return Tool(
        name=tool_name(agent),
        title=agent.name,
        description=agent.description or f"Asks the agent {agent.name} of Agent Playground.",
        input_schema=_input_schema(agent),
        output_schema=output_schema(agent),
        annotations=ToolAnnotations(title=agent.name, read_only_hint=False, open_world_hint=True),
    )


def _input_schema(agent: Agent) -> JsonSchema:
    behaviour = agent.active_variant.behaviour
    known = {one.name: one.description for one in declared_of(behaviour)}
    known = dict.fromkeys(variables_of(template_of(behaviour)), "") | known
    variables: dict[str, JsonValue] = {
        name: {"type": "string", "description": words} if words else {"type": "string"} for name, words in known.items()
    }
    properties: dict[str, JsonValue] = {
        "input": {"type": "string", "description": "What the agent is asked, in words that stand alone."},
        "session": {"type": "string", "description": "A session to go on in, as an earlier answer named it."},
    }
    if variables:
        properties["variables"] = {"type": "object", "properties": variables, "additionalProperties": False}
    return {"type": "object", "properties": properties, "required": ["input"], "additionalProperties": False}
