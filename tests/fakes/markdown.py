"""Markdown of any length, varied and always the same: for streams of a size that a test or a bench asks for."""

from itertools import count

_PARAGRAPHS = (
    "## Part {n}\n\nThe {n}th part is about **numbers**: {n} times {n} is {square}, and `{n} + {square}` is {sum}.\n\n",
    "- item {n}.1 with *emphasis*\n- item {n}.2 with `code`\n- item {n}.3 with [a link](https://example.org/{n})\n\n",
    "| n | square | cube |\n|--:|--:|--:|\n| {n} | {square} | {cube} |\n| {next} | {next_square} | {next_cube} |\n\n",
    "```python\ndef part_{n}(x: int) -> int:\n    return x * {n} + {square}\n```\n\n",
    "> A quotation in part {n}, which is not much longer than it has to be.\n\n",
    "Plain words follow the quotation, {n} of them perhaps, with some punctuation; and then a full stop.\n\n",
)


def markdown(characters: int) -> str:
    """Exactly that many characters."""
    text, length = [], 0
    for n in count(1):
        paragraph = _PARAGRAPHS[n % len(_PARAGRAPHS)].format(
            n=n, square=n * n, cube=n**3, sum=n + n * n, next=n + 1, next_square=(n + 1) ** 2, next_cube=(n + 1) ** 3
        )
        text.append(paragraph)
        length += len(paragraph)
        if length >= characters:
            break
    return "".join(text)[:characters]


def pieces(text: str, size: int = 5) -> list[str]:
    """The text in pieces of that many characters, about a token each."""
    return [text[start : start + size] for start in range(0, len(text), size)]
