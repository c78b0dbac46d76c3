"""The tools of a session's variant: each can be switched off here, and one that is gone says so."""

from collections.abc import Collection

from app.domain.agents import Behaviour, tools_of
from app.domain.tools import ToolSpec
from app.tools.registry import Registry
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import titled, visible


def tool_rows(used: Behaviour, toolbox: Registry, *, off: Collection[str], edited: Behaviour) -> Html:
    """A row for each tool; `edited` is what would be saved as the next variant."""
    choices = [choice for choice in tools_of(used) if choice.policy != "off"]
    if not choices:
        return tag("p", "This variant has no tools.", cls="faint")
    gone = set(toolbox.missing(tuple(choice.name for choice in choices)))
    kept = {choice.name for choice in tools_of(edited)}
    rows: list[Html] = []
    for choice in choices:
        if choice.name in gone:
            rows.append(_gone(choice.name, is_removed=choice.name not in kept))
            continue
        rows.extend(
            _row(spec, toolbox.label(spec.name), is_on=spec.name not in off, asks=choice.policy == "ask")
            for spec in toolbox.specs((choice.name,))
        )
    return joined(*rows)


def allowed_tools(names: Collection[str], toolbox: Registry) -> Html:
    """The tools that may be called in this session without asking, each with a way to take that back."""
    if not names:
        return Html("")
    specs = {spec.name: spec for spec in toolbox.specs(tuple(names))}
    rows = (_allowed(name, titled(specs.get(name), name, toolbox.label(name))) for name in names)
    return tag("div", tag("h3", "Always allowed in this session"), *rows, cls="allowed-tools")


def _allowed(name: str, title: str) -> Html:
    take_back = tag(
        "button",
        "Ask again",
        type="button",
        cls="link-button",
        title=f"Ask before {title} is called",
        aria_label=f"Ask again before {title} is called",
        data_action="ask-again",
        data_tool=name,
        data_testid="ask-again-button",
    )
    return tag(
        "div",
        icon("verified_user"),
        tag("span", title, cls="truncate grow"),
        take_back,
        cls="allowed-tool",
        data_testid="allowed-tool",
    )


def _row(spec: ToolSpec, label: str, *, is_on: bool, asks: bool) -> Html:
    title = titled(spec, spec.name, label)
    return tag(
        "button",
        icon(spec.icon, "faint"),
        tag("span", title, cls="truncate grow"),
        tag("span", "asks first", cls="chip") if asks else "",
        tag("span", cls="switch", aria_hidden="true"),
        type="button",
        role="switch",
        cls="tool-switch",
        title=visible(spec.description),
        aria_checked="true" if is_on else "false",
        aria_label=f"{title} in this session",
        data_action="switch",
        data_tool=spec.name,
        data_testid="tool-switch",
    )


def _gone(name: str, *, is_removed: bool) -> Html:
    words = f"“{visible(name)}” does not exist any more, so this variant cannot run."
    if is_removed:
        way_out: Html = tag("span", "Removed from the prompt's next variant. Save it to use it.", cls="faint")
    else:
        way_out = tag(
            "button",
            "Remove it from the next variant",
            type="button",
            cls="link-button",
            data_action="remove",
            data_tool=name,
            data_testid="remove-tool-button",
        )
    return tag("div", tag("p", icon("warning"), words, cls="mark mark-warn"), way_out, data_testid="missing-tool")
