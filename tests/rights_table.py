"""Who may what: a row for each route of the app and each thing that is done with it.

Whoever adds a route adds its row; `tests/test_rights.py` fails for a route without one, and for a row without a route.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from app.api.door.guests import SIGN_IN_ROUTE
from tests.door import Target

Whole = Literal["all", "no"]
"""With a key for all agents: whatever there is, or refused."""
Limited = Literal["all", "its agents", "own", "no"]
"""With a key for certain agents: whatever it asks for, what is of its agents, what it started, or refused."""
Guest = Literal["", "public", "no", "not there"]
"""Without a key: the door stays shut, or opens for public agents, where it is then done, refused, or nothing there."""
Right = Literal["", "approve", "variants", "evals"]
State = Literal["ended", "paused", "job"]

HELLO = "Hello"
SAID: dict[str, object] = {"input": HELLO}


@dataclass(frozen=True)
class Row:
    """What is sent to a route, and who gets what. The owner gets whatever there is."""

    route: str
    """`METHOD path`; in it and in what is sent `{run}`, `{agent}` and so on stand for what is asked for."""
    does: str
    whole: Whole = "all"
    limited: Limited = "no"
    right: Right = ""
    """Without which a key for certain agents is refused also what is its own."""
    guest: Guest = ""
    sent: object = None
    headers: dict[str, str] = field(default_factory=dict)
    answers: tuple[int, ...] = (200, 201)
    """What says that it was done, or could have been but for how the thing stands."""
    not_there: tuple[int, ...] = (404,)
    """What says to a key that there is no such thing for it."""
    state: State = "ended"
    """Of the run that it takes: one that waits for a person, or in the background."""
    shows: bool = False
    """Whether the answer tells of the run, of all that may be seen, in a list."""
    spends: bool = False
    """Whether the thing is another one afterwards."""

    @property
    def has_object(self) -> bool:
        return any(name in f"{self.route} {self.sent}" for name in ("{agent}", "{run}", "{session}"))


API = "/api/v1"
RUN = f"POST {API}/agents/{{agent}}/run"
FORK, PAUSE = f"POST {API}/runs/{{run}}/fork", f"POST {API}/runs/{{run}}/pauses/{{pause}}"
CHAT, SOCKET_CHAT, COMPLETIONS = f"POST {API}/chat", f"SOCKET {API}/ws/chat", "POST /v1/chat/completions"
REQUEST: dict[str, object] = {"description": "Get it.", "address": "https://example.org"}
DRAFT: dict[str, object] = {"dataset": "{dataset}", "agent": "mine"}
RESPONSES = "POST /v1/responses"
MCP, MCP_VERSION = "POST /mcp", "2026-07-28"
AT_THE_DOOR = tuple(Target(method, "/mcp") for method in ("GET", "POST", "DELETE"))
"""What the door answers itself to others than the owner, so that no walk finds it."""
NOT_SO = (409,)
"""It is theirs to do, and the run does not stand so."""


def mcp(method: str, **parameters: object) -> dict[str, object]:
    """A message of the newer protocol, which stands alone."""
    version = {"io.modelcontextprotocol/protocolVersion": MCP_VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": version, **parameters}}


def called(tool: str, more: dict[str, object] | None = None, **arguments: object) -> dict[str, object]:
    return mcp("tools/call", name=tool, arguments=arguments, **(more or {}))


def said(model: str) -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": HELLO}]}


TABLE = (
    Row(f"GET {API}/agents", "list the agents that are there", limited="all", guest="public"),
    Row(f"POST {API}/agents", "make an agent", sent={"name": "{new}"}),
    Row(f"GET {API}/agents/{{agent}}", "see an agent, without its prompt", limited="its agents", guest="public"),
    Row(f"PUT {API}/agents/{{agent}}", "change an agent", sent={"description": "changed"}),
    Row(f"DELETE {API}/agents/{{doomed}}", "delete an agent"),
    Row(f"GET {API}/agents/{{agent}}/variants", "see its variants, with their prompts"),
    Row(f"POST {API}/agents/{{agent}}/variants", "save a variant", sent={"note": "more"}),
    Row(f"POST {API}/agents/{{agent}}/variants/2/promote", "make a variant the active one"),
    Row(f"GET {API}/agents/{{agent}}/gate", "see what guards its variants", answers=(404,)),
    Row(f"PUT {API}/agents/{{agent}}/gate", "guard its variants", sent={"dataset": "none"}, answers=(404,)),
    Row(f"DELETE {API}/agents/{{agent}}/gate", "guard its variants no more"),
    Row(f"POST {API}/agents/{{agent}}/variants/2/gate", "try a variant for its gate", answers=(404,)),
    Row(f"GET {API}/workflows", "list the workflows"),
    Row(f"POST {API}/workflows", "make a workflow", sent={"name": "{new}", "workflow": {}}, answers=(422,)),
    Row(f"POST {API}/workflows/check", "check a workflow", sent={"workflow": {}}),
    Row(f"GET {API}/workflows/{{agent}}", "see a workflow, with its nodes", answers=(404,)),
    Row(f"PUT {API}/workflows/{{agent}}", "change a workflow", sent={"description": "changed"}, answers=(404,)),
    Row(f"DELETE {API}/workflows/{{doomed}}", "delete a workflow", answers=(404,)),
    Row(f"POST {API}/workflows/{{agent}}/run", "run a workflow", sent={"input": "hi"}, answers=(404,)),
    Row(f"GET {API}/workflows/{{agent}}/export", "take a workflow along", answers=(404,)),
    Row(RUN, "run the active variant", limited="its agents", guest="public", sent=SAID),
    Row(RUN, "run the active variant by its number", limited="its agents", guest="public", sent=SAID | {"variant": 2}),
    Row(
        RUN,
        "run another variant",
        limited="its agents",
        right="variants",
        guest="no",
        sent=SAID | {"variant": 1},
    ),
    Row(
        RUN,
        "run it with another model",
        limited="its agents",
        right="variants",
        guest="no",
        sent=SAID | {"model": "demo"},
    ),
    Row(
        RUN,
        "go on in a session",
        limited="own",
        guest="not there",
        sent=SAID | {"session": "{session}"},
        spends=True,
    ),
    Row(RUN, "run in the background", limited="its agents", guest="public", sent=SAID | {"background": True}),
    Row(RUN, "run with server-sent events", limited="its agents", guest="public", sent=SAID | {"stream": True}),
    Row(
        RUN,
        "run once for an Idempotency-Key",
        limited="its agents",
        guest="no",
        sent=SAID,
        headers={"Idempotency-Key": "of {agent}"},
    ),
    Row(f"GET {API}/agents/{{agent}}/runs?limit=500", "list the runs of an agent", limited="its agents", shows=True),
    Row(f"GET {API}/runs?limit=500", "list runs", limited="all", shows=True),
    Row(f"GET {API}/runs?limit=500&q={HELLO}", "search in runs", limited="all", shows=True),
    Row(f"GET {API}/runs/{{run}}", "see a run", limited="own", shows=True),
    Row(f"DELETE {API}/runs/{{run}}", "delete a run", limited="own", spends=True),
    Row(f"GET {API}/runs/{{run}}/events", "read its entries", limited="own", shows=True),
    Row(f"GET {API}/runs/{{run}}/export?format=jsonl", "take it along as a file", limited="own", shows=True),
    Row(f"SOCKET {API}/runs/{{run}}/stream", "follow it over a socket", limited="own", shows=True),
    Row(f"GET {API}/runs/{{run}}/scores", "read what was said of it", limited="own"),
    Row(f"POST {API}/runs/{{run}}/scores", "rate, tag or note it", limited="own", sent={"name": "rating", "value": 1}),
    Row(f"DELETE {API}/runs/{{run}}/scores/{{score}}", "take back what they said of it", limited="own", spends=True),
    Row(f"POST {API}/runs/{{run}}/case", "make a case of it", sent={"dataset": "{dataset}"}),
    Row(f"GET {API}/runs/{{run}}/workflow", "see it as a workflow"),
    Row(f"POST {API}/runs/{{run}}/workflow", "make a workflow of it", sent={"name": "{new}"}),
    Row(f"GET {API}/datasets", "list datasets"),
    Row(f"POST {API}/datasets", "make a dataset", sent={"name": "{new}"}),
    Row(f"GET {API}/datasets/{{dataset}}", "see a dataset"),
    Row(f"PUT {API}/datasets/{{dataset}}", "change a dataset", sent={"description": "changed"}),
    Row(f"DELETE {API}/datasets/{{dataset}}", "delete a dataset"),
    Row(f"POST {API}/datasets/{{dataset}}/import", "take cases in", sent={"input": HELLO}),
    Row(f"GET {API}/datasets/{{dataset}}/export", "take a dataset along"),
    Row(f"GET {API}/datasets/{{dataset}}/cases", "list cases"),
    Row(f"POST {API}/datasets/{{dataset}}/cases", "add a case", sent={"input": HELLO}),
    Row(f"GET {API}/datasets/{{dataset}}/cases/{{case}}", "see a case"),
    Row(f"PUT {API}/datasets/{{dataset}}/cases/{{case}}", "change a case", sent={"note": "more"}),
    Row(f"DELETE {API}/datasets/{{dataset}}/cases/{{case}}", "delete a case"),
    Row(f"POST {API}/runs/import", "take in a run of another app", whole="no", answers=(422,)),
    Row(f"POST {API}/runs/{{run}}/stop", "stop it", limited="own"),
    Row(f"POST {API}/runs/{{run}}/steer", "break into it", limited="own", sent={"message": "Stop"}, answers=NOT_SO),
    Row(f"POST {API}/runs/{{run}}/retry", "answer its message again", limited="own", spends=True),
    Row(f"POST {API}/runs/{{run}}/give_up", "try it no more", limited="own", answers=NOT_SO),
    Row(f"POST {API}/runs/{{run}}/resume", "let it go on after a restart", limited="own", answers=NOT_SO),
    *(
        Row(
            PAUSE,
            f"decide {decision!r} on what it waits for",
            limited="own",
            right="approve",
            sent={"decision": decision, **more},
            state="paused",
            spends=True,
        )
        for decision, more in (
            ("approve", {}),
            ("deny", {}),
            ("always", {}),
            ("edit", {"arguments": {"operation": "add", "x": 1, "y": 1}}),
        )
    ),
    Row(
        f"POST {API}/runs/{{run}}/nodes",
        "run a part of a workflow's run again",
        limited="own",
        right="variants",
        sent={"to": "output"},
        answers=(409,),
    ),
    Row(FORK, "fork it unchanged, on the active variant", limited="own", sent={"seq": 1}),
    *(
        Row(FORK, f"fork it with {words}", limited="own", right="variants", sent={"seq": 1, **changed})
        for words, changed in (
            ("another variant", {"variant": 1}),
            ("another model", {"model": "demo/agent"}),
            ("another prompt", {"system_prompt": "Be brief."}),
            ("edits", {"edits": [{"type": "message", "seq": 1, "text": "Bye"}]}),
            ("chosen results", {"tools": {"calculator": {"after": {"mode": "recorded"}}}}),
        )
    ),
    Row(f"{FORK}/check", "see what such a fork would do", limited="own", sent={"seq": 1}),
    Row(
        f"{FORK}/check",
        "see what a changed fork would do",
        limited="own",
        right="variants",
        sent={"seq": 1, "variant": 1},
    ),
    Row(f"POST {API}/runs/{{run}}/replay", "replay it from its record", limited="own"),
    Row(CHAT, "talk to the agent that is there", limited="all", sent={"message": HELLO}),
    Row(CHAT, "talk to an agent", limited="its agents", sent={"message": HELLO, "agent": "{agent}"}),
    Row(CHAT, "go on talking", limited="own", sent={"message": HELLO, "session": "{session}"}, spends=True),
    Row(
        CHAT,
        "talk to it with another model",
        limited="its agents",
        right="variants",
        sent={"message": HELLO, "agent": "{agent}", "model": "demo/agent"},
    ),
    Row(SOCKET_CHAT, "talk over a socket", limited="its agents", sent={"message": HELLO, "agent": "{agent}"}),
    Row(
        SOCKET_CHAT,
        "go on talking over a socket",
        limited="own",
        sent={"message": HELLO, "session": "{session}"},
        spends=True,
    ),
    Row(
        SOCKET_CHAT,
        "talk over a socket with another model",
        limited="its agents",
        right="variants",
        sent={"message": HELLO, "agent": "{agent}", "model": "demo/agent"},
    ),
    Row(f"GET {API}/sessions?limit=500", "list sessions", limited="all", shows=True),
    Row(f"GET {API}/sessions/{{session}}", "see a session and its runs", limited="own", shows=True),
    Row(f"GET {API}/sessions?limit=500&q={HELLO}", "search in sessions", limited="all", shows=True),
    Row(f"GET {API}/sessions/{{session}}/export?format=jsonl", "take a session along", limited="own", shows=True),
    Row(f"DELETE {API}/sessions/{{session}}", "delete a session", limited="own", spends=True),
    Row(
        f"POST {API}/sessions/{{session}}/queue",
        "send it a message",
        limited="own",
        sent={"message": HELLO},
        spends=True,
    ),
    Row(f"POST {API}/uploads", "upload a file to attach", limited="all", sent={"a": "file"}),
    Row(f"GET {API}/jobs?limit=500", "list jobs", limited="all", state="job", shows=True),
    Row(f"POST {API}/experiments/estimate", "see what an experiment may cost", sent=DRAFT),
    Row(f"GET {API}/usage?by=agent,day", "see what all runs cost"),
    Row(f"POST {API}/usage/again", "make the figures of all runs again", whole="no"),
    Row(f"GET {API}/metrics", "see how all runs do"),
    Row("GET /metrics", "scrape how all runs do"),
    Row(f"GET {API}/experiments", "list experiments"),
    Row(f"POST {API}/experiments", "start an experiment", sent=DRAFT, answers=(202,)),
    Row(f"GET {API}/experiments/{{experiment}}", "see an experiment"),
    Row(f"GET {API}/experiments/{{experiment}}/cells", "list its cells"),
    Row(f"GET {API}/experiments/{{experiment}}/export", "take it along"),
    *(
        Row(f"POST {API}/experiments/{{experiment}}/{telling}", f"tell it to {telling}", answers=(202, 409))
        for telling in ("pause", "resume", "cancel", "retry-errors", "score-again")
    ),
    Row(f"DELETE {API}/experiments/{{experiment}}", "delete an experiment"),
    Row(f"GET {API}/tools", "list tools"),
    Row(f"GET {API}/tools/{{tool}}", "see a tool"),
    Row(f"PUT {API}/tools/{{tool}}", "turn a tool on or off", sent={"enabled": True}),
    Row(f"POST {API}/tools/{{tool}}/call", "call a tool by hand", sent={"arguments": {}}),
    Row(f"POST {API}/tools/files", "post a tool file, which waits", sent={"name": "{file}", "source": "x = 1"}),
    Row(f"DELETE {API}/tools/files/{{waiting_file}}", "delete a tool file that waits"),
    Row(f"DELETE {API}/tools/files/{{allowed_file}}", "delete a tool file that was allowed", whole="no"),
    Row(f"POST {API}/tools/http", "post an HTTP tool, which waits", sent=REQUEST | {"name": "{file}"}),
    Row(f"DELETE {API}/tools/http/{{waiting_request}}", "delete an HTTP tool that waits"),
    Row(f"DELETE {API}/tools/http/{{allowed_request}}", "delete an HTTP tool that was allowed", whole="no"),
    Row(f"GET {API}/scorers", "list scorers"),
    Row(f"GET {API}/artifacts/{{artifact}}", "read content by its sha256"),
    Row(f"GET {API}/keys", "list keys", whole="no"),
    Row(f"POST {API}/keys", "make a key", whole="no", sent={"name": "{new}"}),
    Row(f"PUT {API}/keys/{{key}}", "change a key's name and rights", whole="no", sent={"may": ["approve"]}),
    Row(f"DELETE {API}/keys/{{key}}", "revoke a key", whole="no"),
    Row(f"GET {API}/openapi.json", "read the API's description", limited="all"),
    Row(f"GET {API}/docs", "read its documentation", limited="all"),
    Row(f"GET {API}/docs/docs.css", "see it in shape", limited="all"),
    Row("GET /v1/models", "list the agents as models", limited="all"),
    Row("GET /v1/models/{agent}", "see an agent as a model", limited="its agents"),
    Row("GET /v1/models/{agent}@1", "see another variant as a model", limited="its agents", right="variants"),
    Row(COMPLETIONS, "run an agent as a model", limited="its agents", sent=said("{agent}")),
    Row(
        COMPLETIONS,
        "run another variant as a model",
        limited="its agents",
        right="variants",
        sent=said("{agent}@1"),
    ),
    Row(RESPONSES, "ask an agent in the newer way", limited="its agents", sent={"model": "{agent}", "input": HELLO}),
    Row(
        RESPONSES,
        "ask another variant in the newer way",
        limited="its agents",
        right="variants",
        sent={"model": "{agent}@1", "input": HELLO},
    ),
    Row(
        RESPONSES,
        "go on behind a response",
        limited="own",
        sent={"model": "{agent}", "input": HELLO, "previous_response_id": "resp_{run}"},
        spends=True,
    ),
    Row(MCP, "list the agents as tools", limited="all", sent=mcp("tools/list")),
    Row(MCP, "run an agent as a tool", limited="its agents", sent=called("run_{agent}", input=HELLO), not_there=(400,)),
    Row(
        MCP,
        "go on in a session with a tool",
        limited="own",
        sent=called("run_{agent}", input=HELLO, session="{session}"),
        not_there=(400, 404),
        spends=True,
    ),
    Row(MCP, "look after a run with a tool", limited="own", sent=called("get_run", run_id="{run}")),
    Row(MCP, "stop a run with a tool", limited="own", sent=called("stop_run", run_id="{run}")),
    Row(MCP, "search runs with a tool", limited="all", right="evals", sent=called("search_runs", limit=50)),
    Row(
        MCP, "read a run with a tool", limited="own", right="evals", sent=called("read_run", run_id="{run}"), shows=True
    ),
    Row(
        MCP,
        "make a case of it",
        limited="own",
        right="evals",
        sent=called("make_case", run_id="{run}", dataset="{dataset}"),
    ),
    Row(
        MCP,
        "start an experiment with a tool",
        limited="its agents",
        right="evals",
        sent=called("start_experiment", dataset="{dataset}", agent="{agent}"),
    ),
    Row(MCP, "see an experiment of the owner's", sent=called("get_experiment", experiment_id="{experiment}")),
    Row(
        MCP,
        "propose a variant",
        limited="its agents",
        right="evals",
        sent=called("propose_variant", agent="{agent}", reason="Kinder", system_prompt="Be very kind."),
    ),
    Row(
        MCP,
        "decide on what it waits for with a tool",
        limited="own",
        right="approve",
        sent=called(
            "get_run",
            {
                "requestState": "{run} {pause}",
                "inputResponses": {"approval": {"action": "accept", "content": {"allow": True}}},
            },
            run_id="{run}",
        ),
        state="paused",
        spends=True,
    ),
    Row("GET /mcp", "hear of other tools", limited="all", answers=(400, 406)),
    Row("DELETE /mcp", "end a session of tools", limited="all", answers=(400, 404)),
    Row("POST /v1/{anything}", "ask for what is not there", limited="all", answers=(404,)),
)

OWNERS = {
    r"GET /favicon\.ico": "the icon",
    r"POST /uploads/x": "attach a file on a page",
    r"(GET|POST) /backups(/x)?": "back up, and bring a backup back",
    r"GET /sign-in/x": "go to where one signs in for an MCP server",
    r"(GET|PUT|POST|DELETE|OPTIONS|SOCKET) /_nicegui.*": "what pages are made of, and their sockets",
    r"(GET|PUT|PATCH|POST|DELETE|OPTIONS|SOCKET) /(api|v1)/(|x|socket\.io.*)": "what is no route of the API",
}
"""All that is no route of the API, as patterns of `METHOD path`: for the owner's browser alone, as are the pages."""
OPEN = {re.escape(SIGN_IN_ROUTE): "come back from there, with the state that was given away for it"}
"""What a browser asks for without its cookie."""


def without_a_row(asked: Iterable[Target]) -> set[str]:
    """What of these addresses, as a walk fills them in, is in no row."""
    rows = {_walked(row) for row in TABLE}
    return {words for target in asked if not _is_known(target, rows, words := f"{target.method} {target.path}")}


def without_a_route(asked: Iterable[Target]) -> set[str]:
    """The rows for what is none of these addresses."""
    known = {f"{target.method} {target.path}" for target in asked}
    rows = {row.route for row in TABLE if _walked(row) not in known}
    return rows | {pattern for pattern in OWNERS | OPEN if not any(re.fullmatch(pattern, words) for words in known)}


def _walked(row: Row) -> str:
    path = re.sub(r"\{[^}]+\}(@1)?", "x", row.route).partition("?")[0]
    return path.replace("/variants/2/", "/variants/x/").replace("/docs/docs.css", "/docs/x")


def _is_known(target: Target, rows: set[str], words: str) -> bool:
    """HEAD is GET without its answer."""
    return target.method == "HEAD" or words in rows or any(re.fullmatch(pattern, words) for pattern in OWNERS | OPEN)
