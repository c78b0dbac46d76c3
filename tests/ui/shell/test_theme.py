"""The style sheets of all pages."""

from pathlib import Path

from pygments.formatters import HtmlFormatter

from app.ui.shell import theme

CODE = Path(theme.__file__).parent.parent / "markdown/code.css"


def coloured(style: str, selector: str) -> str:
    return HtmlFormatter(nobackground=True, style=style).get_style_defs(selector)


def test_coloured_code_looks_as_pygments_has_it():
    """A sheet of its own, so that no start has to read Pygments: paste what is expected here when that changes."""
    expected = f"{coloured('default', '.prose pre')}\n{coloured('github-dark', '.body--dark .prose pre')}\n"
    head, _, rules = CODE.read_text().partition("\n")
    assert head.startswith("/*") and rules == expected


def test_the_style_sheets_keep_their_signs_and_are_ascii():
    written = theme.styles()
    assert written.isascii() and len(written) > 100_000
    assert 'content: "▾ "' in (CODE.parent.parent / "evals/evals.css").read_text()
    assert r'content: "\25be  "' in written, "the first blank ends the number of the sign"
