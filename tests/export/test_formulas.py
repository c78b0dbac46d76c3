"""What is a formula in Markdown, and what is a price."""

import pytest

from app.export.formulas import GROWING
from app.export.reading import markdown_parser
from tests.processor import at_work


def found(text: str) -> list[str]:
    """The sources of its formulas; a display one begins with `=`."""
    sources: list[str] = []
    for token in markdown_parser().parse(text):
        for one in (token, *(token.children or ())):
            if one.type in ("math_inline", "math_display"):
                sources.append(("=" if one.type == "math_display" else "") + one.content)
    return sources


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("$x$ is 5", ["x"]),
        (r"\(x^2\,dx\) and $a_1 * b_2 * c$", [r"x^2\,dx", "a_1 * b_2 * c"]),
        ("Euler: $$e^{i\\pi}$$ is famous", ["=e^{i\\pi}"]),
        ("Text:\n$$\na\n= b\n- c\n$$\nmore", ["=a\n= b\n- c"]),
        ("\\[\na \\\\[2pt]\n=\nb\n\\]", ["=a \\\\[2pt]\n=\nb"]),
        ("> \\[\n> a\n> - b\n> \\]\n> x", ["=a\n- b"]),
        ("- item\n\n  $$\n  x\n  $$\n- b", ["=x"]),
        ("| a |\n|---|\n| $z$ |", ["z"]),
        (r"$a\$b$", [r"a\$b"]),
        ("**$x$** and [$y$](https://a.example)", ["x", "y"]),
    ],
)
def test_a_formula_is_found_as_it_was_written(text: str, sources: list[str]) -> None:
    assert found(text) == sources


@pytest.mark.parametrize(
    "text",
    [
        *("$5 and $10", "between $5-$10", "US$5 and US$6", "5$ and 6$", "$ x $", "a $x $ b", "$HOME and $PATH", "$$$$"),
        *(r"\$5 and \$x\$", "`$x$`", "```\n$x$\n\\(y\\)\n```", "    $x$", "$$\nx\n\ny\n$$", "$x\n\ny$", r"\\(x\\)"),
    ],
)
def test_prices_code_and_what_is_escaped_are_no_formulas(text: str) -> None:
    assert found(text) == []


def test_an_escaped_dollar_is_a_dollar() -> None:
    assert markdown_parser().render(r"It costs \$5.") == "<p>It costs $5.</p>\n"


@pytest.mark.parametrize("text", ["a $$\\frac{a}{b_1", "\\[\na_1\n= b_1", "x $\\frac{a_1 * b_1 * c", "\\(a\\,b"])
def test_a_formula_that_is_still_being_written_is_shown_as_it_is(text: str) -> None:
    shown = markdown_parser().render(text, {GROWING: True})
    assert "".join(shown.replace("<p>", "").replace("</p>", "").split()) == "".join(text.split())


def test_a_price_does_not_keep_what_follows_it_in_a_text_that_grows_from_being_read() -> None:
    assert "<strong>now</strong>" in markdown_parser().render("It costs $5 **now** a", {GROWING: True})


HEAPS = ("\\(" * 9_000, "\\[" * 9_000, "\\[\n" * 6_000, "$$\n" * 6_000, "$$a" * 6_000, "$x" * 9_000, "\\(\\[" * 4_500)


@pytest.mark.parametrize("text", HEAPS)
def test_heaps_of_open_formulas_take_no_time(text: str) -> None:
    with at_work() as work:
        markdown_parser().render(text)
        markdown_parser().render(text, {GROWING: True})
    assert work.seconds < 1
