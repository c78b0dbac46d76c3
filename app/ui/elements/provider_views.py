"""A provider as the settings show it: its state on one line, and its form. No key is ever in it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import urlsplit

from app.domain.errors import FailureClass
from app.domain.values import now
from app.llm.providers.last_seen import Seen
from app.llm.providers.provider_desk import KeyState, ProviderState, SettingField
from app.llm.providers.providers import KEY_PAGES
from app.ui.elements.format import ago, moment_text, plural
from app.ui.elements.markup import Html, icon, joined, tag

MOST_NAMES = 80
KEY_TITLES = {
    "key": "API key",
    "access_key": "Access key ID",
    "secret_key": "Secret access key",
    "session_token": "Session token (for a temporary key)",
}
FIELD_TITLES: dict[SettingField, str] = {
    "address": "Address",
    "organisation": "Organisation",
    "region": "Region",
    "api_version": "API version",
}
FIELD_HINTS: dict[SettingField, str] = {
    "address": "https://api.example.com/v1",
    "organisation": "org-…",
    "region": "eu-central-1",
    "api_version": "2025-01-01-preview",
}
USERNAME = tag("input", type="text", autocomplete="username", hidden=True, value="Agent Playground")
"""Browsers want to know whose password a box is for."""
READ_FORM = "(event) => { event.preventDefault(); emit(Object.fromEntries(new FormData(event.target))); }"
"""Sends a form's content once, when it is sent off: a key that is typed is in no element of the server's."""


def state_words(state: ProviderState) -> tuple[str, str]:
    """What is set for it, in a few words, and their look."""
    if any(key.trouble and not key.variable for key in state.keys):
        return "The key needs a look", "is-warn"
    key = next((key for key in state.keys if key.variable or key.where), None)
    return _keyless_words(state) if key is None else _key_words(state, key)


def _key_words(state: ProviderState, key: KeyState) -> tuple[str, str]:
    if not state.address and "address" in state.fields:
        return "Needs an address", "is-warn"
    if key.variable:
        return "Key from the environment", "is-good"
    return f"Key set{f', …{key.ends}' if key.ends else ''}", "is-good"


def _keyless_words(state: ProviderState) -> tuple[str, str]:
    if state.uses_profile:
        return "Uses this computer's AWS profile", "is-good"
    return ("Needs a key", "") if state.provider.needs_key else ("Needs no key", "")


_FAILED: Mapping[FailureClass, str] = {
    "invalid_key": "Refused the key",
    "quota": "Has no credit left",
    "rate_limit": "Was asked too often",
    "network": "Did not answer",
    "timeout": "Took too long",
    "provider_error": "Had a problem of its own",
    "model_unavailable": "Did not have the model",
    "bad_response": "Gave no usable answer",
}
"""What a provider did, by what became of a question; of whatever else failed one thing is known: it answered."""


def seen_words(seen: Seen, moment: datetime) -> str:
    """`Refused the key 2 min ago, by a run`; of a server that was only looked for, whether it runs."""
    if _not_running(seen):
        return f"Not running, looked {ago(seen.at, moment)}"
    did = _FAILED.get(seen.failure, "Answered") if seen.failure else "Answered"
    return f"{did} {ago(seen.at, moment)}, by {seen.by}"


def _not_running(seen: Seen) -> bool:
    return seen.failure == "network" and seen.by == "a look at this computer"


def seen_badge(seen: Seen | None) -> Html | str:
    """What was last seen of it as a chip; nothing where nothing was."""
    if seen is None:
        return ""
    look = "chip is-warn" if seen.failure in _FAILED else "chip is-good"
    if _not_running(seen):
        look = "chip"  # most people run none of these servers
    title = f"Last seen: {moment_text(seen.at)}"
    return tag("span", seen_words(seen, now()), cls=look, title=title, data_testid="provider-seen")


def card_head(state: ProviderState, *, is_open: bool, served: int = 0) -> Html:
    """The line that opens and closes the card. `served`: how many models a server nearby was seen to offer."""
    words, look = state_words(state)
    number = served or len(state.settings.models)
    badge = seen_badge(state.seen)
    return tag(
        "button",
        icon("dns" if state.provider.is_local or state.is_custom else "cloud"),
        tag("strong", state.provider.title, cls="truncate"),
        tag("span", f"{state.name}/…", cls="faint mono provider-name"),
        tag("span", plural(number, "model"), cls="faint provider-count") if number else "",
        tag("span", words, cls=f"chip {'' if badge else look} key-chip".strip(), data_testid="provider-state"),
        badge,
        icon("expand_less" if is_open else "expand_more", "faint"),
        cls="provider-head",
        aria_expanded="true" if is_open else "false",
        data_testid="provider-head",
        data_provider=state.name,
        data_key=state.name,
    )


def form_view(state: ProviderState) -> Html:
    """The form with all that can be set; it is drawn anew after each change of what is stored."""
    fields = _fields(state)
    return _form(*fields.values(), label="Save")


_MORE = {"bedrock": "An access key instead, or models of your own", "openai": "Address and organisation"}
"""What is folded, where it can be named."""


def short_form_view(state: ProviderState) -> Html:
    """The form with what most people need; the rest is folded."""
    fields = _fields(state)
    needed = {"azure": ("key", "address", "models"), "bedrock": ("key", "region")}.get(state.name, ("key",))
    rest = [field for name, field in fields.items() if name not in needed]
    more = tag(
        "details",
        tag("summary", _MORE.get(state.name, "More settings"), data_testid="setup-more-settings"),
        tag("div", *rest, cls="set-form"),
        cls="set-details",
    )
    shown = (fields[name] for name in needed if name in fields)
    return _form(_key_page(state), *shown, more if rest else "", label="Check it and go on")


def _fields(state: ProviderState) -> dict[str, Html]:
    keys = {key.field: key_field(key, state.name) for key in state.keys}
    settings: dict[str, Html] = {name: _setting(state, name) for name in state.fields}
    return {**keys, **settings, **({} if state.lists_models else {"models": _models_field(state)})}


def _form(*fields: Html | str, label: str) -> Html:
    save = tag("button", label, type="submit", cls="set-button is-primary", data_testid="save-provider")
    return tag("form", USERNAME, *fields, tag("div", save, cls="row-line"), cls="set-form", autocomplete="off")


def _key_page(state: ProviderState) -> Html | str:
    """Where to get a key, for who has none."""
    address = KEY_PAGES.get(state.name)
    if address is None or state.has_key:
        return ""
    link = tag("a", urlsplit(address).hostname or "", href=address, target="_blank", rel="noopener noreferrer")
    return tag("p", f"No key yet? {state.provider.title} makes one at ", link, ".", cls="set-note")


def form_field(
    title: str, name: str, *, testid: str, secret: bool = False, note: str = "", **attributes: str | bool | None
) -> Html:
    """A box of a form under its title; browsers neither keep nor correct what is typed."""
    box = tag(
        "input",
        type="password" if secret else "text",
        name=name,
        autocomplete="new-password" if secret else "off",
        spellcheck="false",
        autocapitalize="off",
        cls="set-input",
        data_testid=testid,
        **attributes,
    )
    return tag("label", tag("span", title, cls="set-title"), box, note, cls="set-field")


def key_field(key: KeyState, name: str) -> Html:
    """A box for a new key, and what is known of the one there is."""
    return form_field(
        KEY_TITLES[key.field],
        f"key:{key.field}",
        testid="key-input" if key.field == "key" else f"{key.field.replace('_', '-')}-input",
        secret=True,
        note=_key_note(key),
        placeholder="Paste a new one to replace it" if key.where or key.variable else "Paste it here",
        aria_label=f"{KEY_TITLES[key.field]} of {name}",
        maxlength="8000",
    )


def _key_note(key: KeyState) -> Html:
    ends = f", ends in …{key.ends}" if key.ends else ""
    if key.variable:
        also = " One that was saved here as well waits until the variable is gone." if key.where else ""
        return _note(f"Set from the environment: {key.variable}{ends}. It goes before what is saved here.{also}")
    if key.trouble:
        return tag("span", icon("warning"), key.trouble, cls="set-note is-warn", data_testid="key-state")
    if key.where:
        return _note(f"Set{ends}. Kept {key.where}.")
    return _note("Not set.")


def _note(words: str) -> Html:
    return tag("span", words, cls="set-note", data_testid="key-state")


def _setting(state: ProviderState, field: SettingField) -> Html:
    variable = state.address_variable if field == "address" else ""
    usual = state.provider.base or state.provider.home if field == "address" else ""
    words = f"From the environment: {variable}." if variable else f"Left empty, it is {usual}" if usual else ""
    return form_field(
        FIELD_TITLES[field],
        field,
        testid=f"provider-{field.replace('_', '-')}",
        note=tag("span", words, cls="set-note") if words else "",
        value=state.settings.model_dump()[field] if not variable else state.address,
        placeholder=usual or _hint(state.name, field),
        disabled=bool(variable),
    )


def _hint(name: str, field: SettingField) -> str:
    return "https://my-resource.openai.azure.com" if (name, field) == ("azure", "address") else FIELD_HINTS[field]


def _models_field(state: ProviderState) -> Html:
    what = "Deployments" if state.name == "azure" else "Models you use"
    box = tag(
        "textarea",
        "\n".join(state.settings.models),
        name="models",
        rows="3",
        spellcheck="false",
        cls="set-input",
        data_testid="provider-models",
    )
    note = tag(
        "span", "One a line. There is no list to ask for; they are offered where a model is chosen.", cls="set-note"
    )
    return tag("label", tag("span", what, cls="set-title"), box, note, cls="set-field")


def models_view(names: Sequence[str], state: ProviderState) -> Html:
    """What it offers, as far as it was asked."""
    if state.settings.listed_at is None:
        words = "Not asked yet: until then the list that comes with the app is offered." if state.lists_models else ""
        return tag("p", words, cls="set-note") if words else Html("")
    asked = f"{plural(len(names), 'model')}, asked {ago(state.settings.listed_at, now())}."
    if not names:
        return tag("p", f"{asked} Load one in the server, then ask again.", cls="set-note")
    shown = (tag("li", name) for name in names[:MOST_NAMES])
    more = tag("li", f"and {len(names) - MOST_NAMES:,} more", cls="faint") if len(names) > MOST_NAMES else ""
    return tag(
        "details",
        tag("summary", asked, data_testid="models-offered"),
        tag("ul", *shown, more, cls="offered-models"),
        cls="set-details",
    )


def places_view(words: str, why: str) -> Html:
    """Where keys are kept, and why nowhere better."""
    reason = tag("span", f" {why}", cls="faint") if why else ""
    return joined(
        icon("key"),
        tag(
            "span", f"New keys are kept {words}.", reason, " The browser is only ever shown their last four characters."
        ),
    )
