"""What the Setup guide shows, as markup: its steps, ways to begin, servers, models, agents, questions and the tour."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.domain.agents import Agent
from app.domain.settings import SetupProgress, SetupStep
from app.llm.providers.nearby import NearbyServer
from app.llm.providers.provider_desk import ProviderState
from app.ui.elements.addresses import AGENTS
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.provider_views import state_words
from app.ui.elements.setup_offer import BEGINNINGS, STEPS, way_view

MOST_AGENTS = 12
MOST_MODELS = 12


@dataclass(frozen=True, slots=True)
class TourStop:
    """Something that the demo model acts out."""

    text: str
    icon: str
    title: str
    words: str


TOUR = (
    TourStop("Fail with rate limit", "hourglass_top", "A failure and its card", "See the countdown; retry or give up."),
    TourStop("Get cut off", "content_cut", "An answer that breaks off", "It is never shown as finished."),
    TourStop("Be slow", "slow_motion_video", "A slow answer", "Press Stop, queue a message, or steer it."),
    TourStop("Call delete_everything", "block", "A tool nobody granted", "The model is told so; nothing is deleted."),
    TourStop("Loop", "all_inclusive", "A loop", "A limit ends the run and says which."),
)
NEW_AGENT = f"{AGENTS}?new=1"
ANYWAY = ("Hello! What can you do?", "What is 5 + 10, then multiply by 3?")
"""What can be asked of an agent that names no examples."""


def reachable(progress: SetupProgress) -> tuple[SetupStep, ...]:
    """The steps that can be opened now; the tour needs nothing but the demo model."""
    after_begin: tuple[SetupStep, ...] = ("choose",) if progress.provider else ()
    after_choice: tuple[SetupStep, ...] = ("ask",) if progress.model and progress.agent else ()
    return ("begin", *after_begin, *after_choice, "tour")


def step_head(step: SetupStep, progress: SetupProgress, summary: str) -> Html:
    """The title of a step; of another than the open one, a button that opens it."""
    names = list(STEPS)
    place, here = names.index(step), names.index(progress.step)
    is_done = place < here and step in reachable(progress) and bool(progress.provider)
    mark = icon("check") if is_done else str(place + 1) if step != "tour" else icon("explore")
    number = tag("span", mark, cls=f"setup-number{' is-done' if is_done else ''}", aria_hidden="true")
    if step == progress.step:
        return tag("div", number, tag("h2", STEPS[step], tabindex="-1"), cls="setup-head")
    words = joined(tag("strong", STEPS[step]), tag("span", summary, cls="faint truncate") if summary else "")
    return tag(
        "h2",
        tag(
            "button",
            number,
            tag("span", words, cls="setup-head-words"),
            tag("span", "Change", cls="setup-change") if is_done else "",
            type="button",
            cls="setup-head",
            data_pick=step,
            disabled=step not in reachable(progress),
            data_testid=f"setup-open-{step}",
        ),
    )


def ways_view(opened: str) -> Html:
    """The ways to begin; the one that is opened is marked."""
    return tag("div", *(_way(name, is_open=name == opened) for name in BEGINNINGS), cls="setup-ways")


def _way(name: str, *, is_open: bool) -> Html:
    return tag(
        "button",
        way_view(*BEGINNINGS[name]),
        type="button",
        cls=f"setup-way{' is-open' if is_open else ''}",
        data_pick=name,
        data_key=name,
        aria_expanded=None if name == "demo" else "true" if is_open else "false",
        data_testid=f"setup-{name}",
    )


def providers_view(states: Sequence[ProviderState], chosen: str) -> Html:
    """The box to choose whose key it is."""
    options = (
        tag(
            "option",
            f"{state.provider.title} ({state_words(state)[0].lower()})" if state.is_set else state.provider.title,
            value=state.name,
            selected=state.name == chosen,
        )
        for state in states
    )
    box = tag("select", *options, cls="set-input", data_testid="setup-provider")
    return tag("label", tag("span", "Provider", cls="set-title"), box, cls="set-field")


def servers_view(servers: Sequence[NearbyServer]) -> Html:
    """The servers that answer, with their models; in words how to start one where none does."""
    found = [server for server in servers if server.answers]
    if found:
        return tag("ul", *(_server(server) for server in found), cls="setup-servers")
    names = ", ".join(f"{server.title} ({server.address})" for server in servers)
    return joined(
        tag("p", f"None answers here. Asked: {names}.", cls="set-note", data_testid="setup-none"),
        tag(
            "ul",
            tag("li", tag("strong", "Ollama"), ": install it, then run ", tag("code", "ollama run llama3.2")),
            tag("li", tag("strong", "LM Studio"), ": load a model, then Developer → Start server"),
            tag("li", tag("strong", "llama.cpp"), ": run ", tag("code", "llama-server -m model.gguf")),
            cls="setup-how",
        ),
    )


def _server(server: NearbyServer) -> Html:
    names = ", ".join(server.models[:6]) + (" …" if len(server.models) > 6 else "")
    if not server.models:
        hint = " Run: ollama pull llama3.2" if server.name == "ollama" else " Load one in the server."
        names = f"It has no model yet.{hint}"
    use = tag(
        "button",
        "Use it",
        type="button",
        cls="set-button is-primary",
        data_pick=server.address,
        disabled=not server.models,
        aria_label=f"Use {server.title}",
        data_testid="setup-use-server",
    )
    words = tag("span", tag("strong", server.title), tag("span", plural(len(server.models), "model"), cls="chip"))
    lines = tag("span", words, tag("span", f"{server.address} · {names}", cls="set-note"), cls="setup-lines")
    return tag("li", icon("dns"), lines, use, data_testid="setup-found")


def models_view(names: Sequence[str], chosen: str) -> Html:
    """The models to choose from, as far as they are few enough to be shown."""
    shown = list(names[:MOST_MODELS])
    if chosen not in shown:
        shown.append(chosen)
    return tag("div", *(_model(name, is_chosen=name == chosen) for name in shown), cls="setup-models", role="group")


def _model(name: str, *, is_chosen: bool) -> Html:
    return tag(
        "button",
        icon("check_circle" if is_chosen else "radio_button_unchecked"),
        name.partition("/")[2] or name,
        type="button",
        cls="example setup-model",
        data_pick=name,
        data_key=name,
        aria_pressed="true" if is_chosen else "false",
        data_testid="setup-model",
    )


def agents_view(agents: Sequence[Agent], chosen: str) -> Html:
    """The agents to choose from, and the way to one's own."""
    new = tag(
        "a",
        tag("span", icon("add"), cls="agent-icon"),
        tag("span", tag("strong", "Make a new one"), tag("span", "The guide waits for you.", cls="muted")),
        href=NEW_AGENT,
        cls="setup-way",
        data_testid="setup-new-agent",
    )
    cards = (_agent(agent, is_chosen=agent.id == chosen) for agent in agents[:MOST_AGENTS])
    return tag("div", *cards, new, cls="setup-ways")


def _agent(agent: Agent, *, is_chosen: bool) -> Html:
    return tag(
        "button",
        way_view(agent.icon, agent.name, agent.description or "No description."),
        type="button",
        cls=f"setup-way{' is-open' if is_chosen else ''}",
        data_pick=agent.id,
        aria_pressed="true" if is_chosen else "false",
        data_testid="setup-agent",
    )


def questions_view(agent: Agent) -> Html:
    """What could be asked of the agent."""
    examples = agent.examples or ANYWAY
    chips = (
        tag("button", tag("span", text), type="button", cls="example", data_pick=text, data_testid="setup-question")
        for text in examples
    )
    return tag("div", *chips, cls="examples setup-questions")


def own_question(agent: Agent) -> Html:
    """A box for a question of one's own."""
    box = tag(
        "input",
        type="text",
        name="question",
        placeholder="Or write your own",
        maxlength="4000",
        autocomplete="off",
        cls="set-input",
        aria_label=f"Your question to {agent.name}",
        data_testid="setup-own-question",
    )
    send = tag("button", "Ask", type="submit", cls="set-button is-primary", data_testid="setup-ask")
    return tag("form", box, send, cls="setup-own")


def tour_view(toured: Collection[str] = ()) -> Html:
    """What the demo model acts out; what was seen of it is marked."""
    return tag("div", *(_stop(stop, is_seen=stop.text in toured) for stop in TOUR), cls="setup-ways")


def _stop(stop: TourStop, *, is_seen: bool) -> Html:
    seen = tag("span", icon("check"), "seen", cls="setup-seen") if is_seen else ""
    return tag(
        "button",
        way_view(stop.icon, stop.title, f"{stop.words} Says: “{stop.text}”."),
        seen,
        type="button",
        cls="setup-way",
        data_pick=stop.text,
        data_testid="setup-tour",
    )
