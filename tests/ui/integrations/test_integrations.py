"""Programs that call an agent, read as those languages read them; the keys as the page lists them."""

import ast
import json
import re
import shlex
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from pydantic import JsonValue

from app.domain.agents import Agent, PromptBehaviour, new_agent
from app.domain.errors import WorkbenchError
from app.domain.keys import ApiKey
from app.ui.integrations.api_agent_panel import reach
from app.ui.integrations.api_key_views import keys_list, reaching, revoked_list, rights_words
from app.ui.integrations.api_keys_panel import days_until_end_of
from app.ui.integrations.api_snippet_panel import Answer, answer_of, answer_view, call_of, snippet_view
from app.ui.integrations.api_snippets import (
    SNIPPETS,
    AgentCall,
    Request,
    curl,
    javascript,
    n8n_model,
    n8n_request,
    openai_client,
    python,
    web_socket,
)
from app.ui.integrations.integrations_page import IntegrationsQuery
from app.ui.integrations.mcp_snippets import snippet_named
from tests.hostile import PAYLOADS

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
NASTY = (
    'It\'s "quoted",\n\ta `tick`, ${HOME} $(id) $KEY, \\n, {{name}}, ={{ 1 + 1 }}, %s, é, 🧪, \u2028 and </script>\x07!'
)
CALL = AgentCall("http://127.0.0.1:8765", "ada-s-agent", 'Ada\'s "agent"', NASTY, {"who": NASTY, "empty": ""})
PUBLIC = replace(CALL, needs_key=False)
KEYED = replace(CALL, key="ap_secret")
BODY = {"input": NASTY, "variables": {"who": NASTY, "empty": ""}}
RUN = "http://127.0.0.1:8765/api/v1/agents/ada-s-agent/run"


def curl_words(call: AgentCall) -> list[str]:
    return shlex.split(curl(call).replace("\\\n", ""))


def keywords_of(program: str, function: str) -> dict[str, ast.expr]:
    """The arguments by name of the one call of that function in a Python program."""
    calls = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Call)]
    found = [call for call in calls if ast.unparse(call.func) == function]
    assert len(found) == 1
    places = {str(place): value for place, value in enumerate(found[0].args)}
    return places | {keyword.arg: keyword.value for keyword in found[0].keywords if keyword.arg}


def n8n_parameters(call: AgentCall) -> dict[str, JsonValue]:
    (node,) = json.loads(n8n_request(call))["nodes"]
    assert (node["type"], node["name"]) == ("n8n-nodes-base.httpRequest", 'Run Ada\'s "agent"')
    parameters: dict[str, JsonValue] = node["parameters"]
    return parameters


def test_a_shell_reads_the_curl_command_as_it_is_meant():
    words = curl_words(CALL)
    assert words[:5] == ["curl", "-sS", RUN, "-H", "Content-Type: application/json"]
    assert words[5:7] == ["-H", "Authorization: Bearer $AGENT_PLAYGROUND_KEY"]
    assert words[7] == "--data-raw" and json.loads(words[8]) == BODY and len(words) == 9
    assert '"Authorization: Bearer $AGENT_PLAYGROUND_KEY"' in curl(CALL)


def test_python_reads_its_programs_as_they_are_meant():
    asked = keywords_of(python(CALL), "httpx.post")
    assert ast.literal_eval(asked["0"]) == RUN and ast.literal_eval(asked["json"]) == BODY
    asked = keywords_of(openai_client(CALL), "client.chat.completions.create")
    assert ast.literal_eval(asked["messages"]) == [{"role": "user", "content": NASTY}]
    assert ast.literal_eval(asked["model"]) == "ada-s-agent"
    client = keywords_of(openai_client(CALL), "OpenAI")
    assert ast.literal_eval(client["base_url"]) == "http://127.0.0.1:8765/v1"
    assert ast.unparse(client["api_key"]) == "os.environ['AGENT_PLAYGROUND_KEY']"
    sent = keywords_of(web_socket(CALL), "json.dumps")
    assert ast.literal_eval(sent["0"]) == {"message": NASTY, "agent": "ada-s-agent"}
    address = keywords_of(web_socket(CALL), "connect")["0"]
    assert ast.literal_eval(address) == "ws://127.0.0.1:8765/api/v1/ws/chat"


def test_javascript_gets_the_body_as_json():
    program = javascript(CALL)
    body = program.split("JSON.stringify(", 1)[1].rsplit("),\n});", 1)[0]
    assert json.loads(body) == BODY
    assert "Authorization: `Bearer ${process.env.AGENT_PLAYGROUND_KEY}`" in program


def test_n8n_gets_a_node_whose_body_is_no_expression():
    parameters = n8n_parameters(CALL)
    assert (parameters["url"], parameters["genericAuthType"]) == (RUN, "httpBearerAuth")
    body = parameters["jsonBody"]
    assert isinstance(body, str) and body.startswith("{") and json.loads(body) == BODY


def test_the_key_is_written_in_where_it_is_known():
    for snippet in SNIPPETS:
        assert "ap_secret" in snippet.write(KEYED), snippet.name
        assert "AGENT_PLAYGROUND_KEY" not in snippet.write(KEYED) + snippet.notes(KEYED), snippet.name
        assert "os.environ" not in snippet.write(KEYED), snippet.name
    assert "Authorization: Bearer ap_secret" in curl_words(KEYED)
    assert "genericAuthType" not in n8n_parameters(KEYED)


def test_an_agent_that_anyone_may_run_needs_no_key_but_to_be_a_model():
    for snippet in SNIPPETS:
        said = snippet.write(PUBLIC) + snippet.notes(PUBLIC)
        assert ("AGENT_PLAYGROUND_KEY" in said) is not snippet.asks_for_run, snippet.name
    assert not any("Authorization" in word for word in curl_words(PUBLIC))
    assert "headers" not in keywords_of(python(PUBLIC), "httpx.post")


def test_without_variables_the_body_has_none_and_nothing_is_said_of_them():
    plain = replace(CALL, variables={})
    assert json.loads(curl_words(plain)[8]) == {"input": NASTY}
    for snippet in SNIPPETS:
        assert ("Variables keep" in snippet.notes(CALL)) is not snippet.asks_for_run
        assert "Variables keep" not in snippet.notes(plain)


def test_settings_for_n8n_name_the_model_and_the_address():
    settings = n8n_model(CALL)
    assert "http://127.0.0.1:8765/v1\n" in settings and "ada-s-agent\n" in settings
    assert "Use Responses API:  off" in settings


def test_an_unknown_snippet_is_the_first_one():
    assert snippet_named("n8n").title == "n8n"
    assert snippet_named("fax") is SNIPPETS[0]


@pytest.mark.parametrize(
    ("call", "credentials", "bearer"),
    [(CALL, "same-origin", None), (PUBLIC, "omit", None), (KEYED, "omit", "Bearer ap_secret")],
)
def test_the_page_sends_what_the_snippet_does(call: AgentCall, credentials: str, bearer: str | None):
    told = json.loads(call_of(snippet_named("python").request(call), 3))
    assert (told["number"], told["address"], told["body"]) == (3, RUN, BODY)
    assert (told["credentials"], told["headers"].get("Authorization")) == (credentials, bearer)


def test_clients_of_mcp_are_led_to_what_a_coding_agent_can_do():
    call = replace(CALL, command=("agent-playground", "mcp"))
    shown = {name: snippet_view(snippet_named(name), call, 1) for name in ("claude-code", "claude-desktop", "curl")}
    assert ["/api/v1/docs/SKILL.md" in view for view in shown.values()] == [True, True, False]


def test_no_text_becomes_markup():
    hostile = "\n".join(PAYLOADS)
    call = replace(CALL, name=hostile, slug=hostile, message=hostile, variables={"who": hostile}, key=hostile)
    shown = "".join(snippet_view(snippet, call, 1) for snippet in SNIPPETS)
    for text in (hostile, json.dumps(hostile)):
        answer = Answer(number=1, status=200, ms=1, size=1, text=text, run=hostile)
        shown += answer_view(answer, Request(RUN, hostile), hostile)
    assert not any(start in shown for start in ("<script", "<img", "<svg", "<iframe", "<b>", "<a onmouse"))


def test_an_answer_is_set_out_with_its_status_time_and_run():
    answer = answer_of({"number": 1, "status": 200, "run": "r1", "ms": 1234, "size": 9, "text": '{"a":{"b":1}}'})
    assert answer is not None
    shown = answer_view(answer, Request(RUN, {}, anonymous=True), "a")
    assert "HTTP 200" in shown and "1.2 s" in shown and 'href="/runs/r1"' in shown and "without a key" in shown
    failed = answer_view(Answer(number=1, status=0, ms=1, size=4, text="Gone"), Request(RUN, {}), "a")
    assert "No answer" in failed and "Gone" in failed and "<a" not in failed
    assert answer_of(["made", "up"]) is None


def test_a_long_answer_is_cut_and_the_rest_counted():
    shown = answer_view(Answer(number=1, status=200, ms=1, size=50_000, text="x" * 50_000), Request(RUN, {}), "a")
    assert "30,000 more characters" in shown and len(shown) < 25_000


def agent(name: str) -> Agent:
    return new_agent(name, PromptBehaviour(), taken_slugs=set())


def key(name: str, **more: object) -> ApiKey:
    known = {"id": name, "name": name, "secret_digest": "d" * 64, "last_four": "abcd", "created_at": AT}
    return ApiKey.model_validate(known | more)


def test_keys_are_listed_with_what_they_open_and_how_they_stand():
    ada, bob = agent("Ada"), agent("<b>Bob</b>")
    keys = [
        key("<i>n8n</i>", agents=(ada.id, bob.id), expires_at=AT + timedelta(days=40)),
        key("old", expires_at=AT - timedelta(days=2), last_used_at=AT - timedelta(days=3)),
        key("gone", agents=("deleted",), revoked_at=AT - timedelta(days=1)),
    ]
    shown = keys_list(keys, [ada, bob], AT)
    how_many, revoked = revoked_list(keys, [ada, bob], AT)
    assert "&lt;i&gt;n8n" in shown and "Ada, &lt;b&gt;Bob&lt;/b&gt;" in shown and "31 Dec 2026" in shown
    assert "expired 19 Nov 2026" in shown and "3 days ago" in shown and "…abcd" in shown
    assert how_many == "1 revoked key" and "Its agents were deleted" in revoked
    assert (shown.count("key-row"), shown.count("data-revoke=")) == (2, 2)
    assert (revoked.count("key-row"), revoked.count("data-revoke=")) == (1, 0)
    assert "No keys yet" in keys_list([], [ada], AT) and revoked_list([], [ada], AT) == ("", "")


def test_what_a_key_may_besides_is_listed_and_can_be_changed_while_it_opens_certain_agents():
    ada = agent("Ada")
    keys = [
        key("both", agents=(ada.id,), may=("approve", "variants")),
        key("none", agents=(ada.id,)),
        key("all"),
        key("gone", agents=(ada.id,), revoked_at=AT),
    ]
    shown = keys_list(keys, [ada], AT)
    assert [rights_words(one) for one in keys] == [
        "Approve and answer, Choose variants",
        "Nothing",
        "Everything but keys",
        "Nothing",
    ]
    assert all(rights_words(one) in shown for one in keys[:3]) and "May also" in shown
    assert re.findall(r'data-rights="(\w+)"', shown) == ["both", "none"]


def test_many_keys_and_many_agents_of_a_key_are_counted():
    agents = [agent(f"Agent {number}") for number in range(5)]
    shown = keys_list([key(f"k{number}", agents=[one.id for one in agents]) for number in range(103)], agents, AT)
    assert shown.count("key-row") == 100 and "And 3 older keys" in shown and "and 2 more" in shown


def test_only_keys_that_are_valid_and_open_the_agent_reach_it():
    ada, bob = agent("Ada"), agent("Bob")
    keys = [
        key("all"),
        key("ada", agents=(ada.id,)),
        key("bob", agents=(bob.id,)),
        key("old", expires_at=AT),
        key("gone", revoked_at=AT),
    ]
    assert [one.name for one in reaching(keys, ada, AT)] == ["all", "ada"]
    assert "Make one" in reach([]) and "Make one" not in reach(keys)


def test_a_key_lasts_to_the_end_of_its_last_day():
    noon = datetime(2026, 11, 21, 12).astimezone()
    assert days_until_end_of(date(2026, 11, 21), noon) == pytest.approx(0.5, abs=0.001)
    assert days_until_end_of(date(2026, 11, 23), noon) == pytest.approx(2.5, abs=0.001)
    with pytest.raises(WorkbenchError, match="has passed"):
        days_until_end_of(date(2026, 11, 20), noon)
    for day in (date.min, date(1, 1, 2)):
        with pytest.raises(WorkbenchError, match="Choose"):
            days_until_end_of(day, noon)


def test_the_address_says_what_is_shown():
    query = IntegrationsQuery.of({"agent": "a&b", "with": "curl", "new": "1"})
    assert query.address == "/integrations?agent=a%26b&with=curl"
    assert IntegrationsQuery().address == "/integrations"
