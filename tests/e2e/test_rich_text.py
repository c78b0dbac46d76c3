"""Formulas, diagrams and the rest of GitHub's Markdown in answers, in a real browser."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app_process import AppProcess
from tests.e2e.accessible import violations
from tests.e2e.apps import app_on
from tests.e2e.playground import ask, send, start_session
from tests.e2e.test_code import with_an_echo
from tests.hostile_servers import echo

DIAGRAM = "```mermaid\nflowchart LR\n  A[Start] --> B[End]\n```"
FORMULA = "Inline $e^{i\\pi}$ and\n\n$$\n\\int_0^1 x^2\\,dx\n$$\n\n"
NOTES = "One[^1].\n\n> [!WARNING]\n> Mind it.\n\n- [x] done\n\n[^1]: The note.\n\n"
CODE = "```\nno language, and a line that is longer than any page is wide " + "x" * 300 + "\n```\n\n"
KEPT = (
    """() => { window.kept = [...document.querySelectorAll(".math-shown, .prose-picture img")]; return kept.length; }"""
)
STAYED = "() => window.kept.every((one) => one.isConnected)"


@pytest.fixture(scope="module")
def app_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppProcess]:
    with echo() as address:
        environment = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-echo"}
        with app_on(tmp_path_factory.mktemp("rich"), with_an_echo, environment=environment) as app:
            yield app


@pytest.fixture
def chat(page: Page) -> Page:
    start_session(page, "Echo")
    return page


def picture(answer: Locator) -> Locator:
    return answer.get_by_role("img", name="Diagram (flowchart", exact=False)


def test_formulas_are_drawn_and_read_as_mathematics(chat: Page) -> None:
    answer = ask(chat, FORMULA + "It costs $5 and $10.")
    expect(answer.locator(".math-shown")).to_have_count(2)
    expect(answer.locator(".katex-display")).to_have_count(1)
    expect(answer.locator("math annotation").last).to_have_text("\\int_0^1 x^2\\,dx")
    expect(answer).to_contain_text("It costs $5 and $10.")
    chat.reload()
    expect(answer.locator(".math-shown")).to_have_count(2)


@pytest.mark.long
def test_libraries_are_fetched_only_where_there_is_something_to_draw(chat: Page) -> None:
    asked: list[str] = []
    expect(chat.get_by_test_id("prompt-editor").locator(".cm-content")).to_be_visible()  # it has a library, too
    chat.on("request", lambda request: asked.append(request.url))
    ask(chat, "Nothing but *words*, `$x$` and $5.\n\n```python\nx\n```")
    assert not [url for url in asked if "katex" in url.lower() or "/esm/" in url]
    answer = ask(chat, f"{FORMULA}{DIAGRAM}")
    expect(picture(answer)).to_be_visible()
    fetched = [url for url in asked if "katex" in url.lower() or "/esm/" in url]
    assert any(url.endswith("katex.min.js") for url in fetched) and any("/esm/" in url for url in fetched)
    assert not [url for url in fetched if url.endswith((".woff", ".ttf"))]


def test_a_formula_or_diagram_that_cannot_be_drawn_shows_its_source_and_says_so(chat: Page) -> None:
    answer = ask(chat, "Bad $\\frac{a}{$ and\n\n```mermaid\nflowchart LR\n  A[Start -->\n```")
    expect(answer.get_by_text("This formula could not be drawn.")).to_be_visible()
    expect(answer.get_by_text("\\frac{a}{")).to_be_visible()
    expect(answer.get_by_text("This diagram could not be drawn. Here is its source.")).to_be_visible()
    expect(answer.get_by_text("A[Start -->")).to_be_visible()


def test_a_diagram_is_a_picture_with_its_source_one_click_away_in_both_themes(chat: Page) -> None:
    answer = ask(chat, DIAGRAM)
    expect(picture(answer)).to_be_visible()
    expect(answer.get_by_text("A[Start]")).to_be_hidden()
    button = answer.get_by_role("button", name="Source")
    button.press("Enter")
    expect(answer.get_by_text("A[Start]")).to_be_visible()
    expect(button).to_have_attribute("aria-pressed", "true")
    light = picture(answer).get_attribute("src") or ""
    chat.get_by_role("button", name="Dark").click()
    expect(picture(answer)).not_to_have_attribute("src", light)
    chat.get_by_role("button", name="Light").click()
    expect(picture(answer)).to_have_attribute("src", light)
    chat.get_by_role("button", name="System").click()


@pytest.mark.long
def test_what_is_drawn_stays_while_the_answer_goes_on(chat: Page) -> None:
    answer = send(chat, f"{FORMULA}{DIAGRAM}\n\n" + "".join(f"Words {number} follow.\n\n" for number in range(900)))
    expect(picture(answer)).to_be_visible()
    expect(answer.locator(".math-shown")).to_have_count(2)
    assert chat.evaluate(KEPT) == 3
    expect(answer).to_contain_text("Words 899 follow.")
    expect(chat.get_by_test_id("message-streaming")).to_have_count(0)
    assert chat.evaluate(STAYED)


def test_notes_tasks_and_footnotes(chat: Page) -> None:
    answer = ask(chat, NOTES)
    expect(answer.locator(".markdown-alert-title")).to_have_text("Warning")
    expect(answer.get_by_text("☑ done")).to_be_visible()
    answer.get_by_role("button", name="Footnote 1", exact=True).press("Enter")
    back = answer.get_by_role("button", name="Back to where footnote 1 stands")
    expect(back).to_be_focused()
    back.press("Enter")
    expect(answer.get_by_role("button", name="Footnote 1", exact=True)).to_be_focused()


def test_code_says_its_language_and_wraps_on_demand(chat: Page) -> None:
    answer = ask(chat, CODE)
    expect(answer.locator(".prose-code-bar span")).to_have_text("text")
    code, wrap = answer.locator(".prose-code pre"), answer.get_by_role("button", name="Wrap long lines")
    assert code.evaluate("pre => pre.scrollWidth > pre.clientWidth")
    wrap.press("Enter")
    expect(wrap).to_have_attribute("aria-pressed", "true")
    assert not code.evaluate("pre => pre.scrollWidth > pre.clientWidth")


@pytest.mark.parametrize(
    ("width", "dark"),
    [(1280, False), (390, True), *(pytest.param(*one, marks=pytest.mark.long) for one in ((1280, True), (390, False)))],
)
def test_everybody_can_read_it(chat: Page, width: int, dark: bool) -> None:
    chat.set_viewport_size({"width": width, "height": 844})
    answer = ask(chat, f"{NOTES}{FORMULA}{CODE}{DIAGRAM}")
    chat.evaluate("dark => Quasar.Dark.set(dark)", dark)
    expect(chat.locator("body")).to_have_class(re.compile("body--dark" if dark else "body--light"))
    expect(picture(answer)).to_be_visible()
    found = [one for one in violations(chat) if "user-bubble" not in one and "cm-placeholder" not in one]
    assert found == []


HOSTILE = (
    "$" + "\\sqrt{" * 400 + "x" + "}" * 400 + "$",
    "$\\def\\a{\\a\\a}\\a$ and $\\href{javascript:window.hacked=1}{x}$ and $\\htmlData{x=1}{y}$",
    '```mermaid\ngraph TD\nA@{ img: "https://evil.example/leak.png" }\n```',
    '```mermaid\n%%{init: {"securityLevel": "loose", "themeCSS": "* {background: url(//evil.example/x)}"}}%%\n'
    'graph TD\nA["<img src=x onerror=window.hacked=1>"]\nclick A "javascript:window.hacked=1"\n```',
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_formulas_and_diagrams_do_nothing(chat: Page, text: str) -> None:
    answer = ask(chat, f"{text}\n\nand $x$")
    expect(answer.locator(".math-shown").last).to_be_visible()
    drawn = answer.locator(".prose-picture, .prose-note, .math-shown")
    expect(drawn).not_to_have_count(1)
    assert chat.evaluate("window.hacked") is None
    expect(answer.locator(".prose a, svg foreignObject, .math-shown [href], .math-shown [data-x]")).to_have_count(0)
