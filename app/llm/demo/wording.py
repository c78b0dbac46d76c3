"""Sums as people word them, rewritten the way they are written: "multiply that by three" becomes `$ * (3)`.

`$` stands for what was worked out before.
"""

import re

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

_NUMBERS = {word: number for number, word in enumerate(_SMALL)}
_NUMBERS |= {word: 10 * number for number, word in enumerate(_TENS, start=2)}
_NUMBERS |= {
    f"{tens} {_SMALL[ones]}": 10 * number + ones for number, tens in enumerate(_TENS, start=2) for ones in range(1, 10)
}
_NUMBER_WORDS = re.compile(r"\b(" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + r")\b")

_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "’": "'", "“": '"', "”": '"'})


def _compiled(*rewritten: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(words), sign) for words, sign in rewritten)


_VERBS = (
    r"add|subtract|deduct|take|multiply|divide|raise|square|cube|double|triple|halve|half|times|plus|minus|increase"
    r"|decrease"
)

_WORDS = _compiled(
    (r"(?<=\d),(?=\d{3}(?!\d))", ""),
    (r"\*\*", "^"),
    (r"(?<=[\d)])\s*x\s*(?=[-\d(])", " * "),
    (r"(\d+(?:\.\d+)?)\s*(?:%|percent\b|per cent\b)(?:\s+of\b)", r"(\1 / 100) *"),
    (r"(\d+(?:\.\d+)?)\s*(?:%|percent\b|per cent\b)", r"(\1 / 100)"),
    (r"\b(?:raised\s+)?to the power(?: of)?\b", "^"),
    (r"\b(?:raised )?to the (\d+)(?:st|nd|rd|th)(?: power)?\b", r"^ \1"),
    (r"\b(?:the )?(?:square root|sqrt)(?: of)?\s*(\([^()]*\)|-?[\d.]+|that|it|the result)", r"((\1) ^ 0.5)"),
    (r"\bsquared\b", "^ 2"),
    (r"\bcubed\b", "^ 3"),
    (r"\b(?:multiplied (?:by|with)|times)\b", "*"),
    (r"\b(?:divided by|over)\b", "/"),
    (r"\b(?:plus|added to|increased by)\b", "+"),
    (r"\b(?:minus|less|decreased by|reduced by)\b", "-"),
)

_STEPS = re.compile(
    r"\b(?:and\s+)?(?:then|after that|afterwards|next|finally)\b"
    r"|[;\n]+|[.?!](?:\s|$)"
    rf"|,\s*(?:and\s+)?(?=[*/+^]|-\s|(?:{_VERBS})\b)"
    rf"|\sand\s+(?=[*/+^]|-\s|(?:{_VERBS})\b)"
)

_BEFORE = r"(?:that|it|this|the (?:result|answer|sum|product|outcome|total|number)|what you get|ans)"

_ORDERS = _compiled(
    (rf"\b{_BEFORE}\b", "$"),
    (r"\b(?:add|increase)\s++(.+?)\s++(?:to|by)\s++\$", r"$ + (\1)"),
    (r"\bincrease\s++(.+?)\s++by\s++(.+)", r"(\1) + (\2)"),
    (r"\bdecrease\s++(.+?)\s++by\s++(.+)", r"(\1) - (\2)"),
    (r"\badd\s++(.+?)\s++to\s++(.+)", r"(\1) + (\2)"),
    (r"\b(?:subtract|deduct|take)\s++(?:away\s++)?(.+?)\s++(?:away\s++)?from\s++(.+)", r"(\2) - (\1)"),
    (r"\b(?:subtract|deduct|take away)\s++(.+)", r"$ - (\1)"),
    (r"\bdifference\s++(?:between|of)\s++(.+?)\s++and\s++(.+)", r"(\1) - (\2)"),
    (r"\bmultiply\s++(?:by|with)\s++(.+)", r"$ * (\1)"),
    (r"\bmultiply\s++(.+?)\s++(?:by|with|and)\s++(.+)", r"(\1) * (\2)"),
    (r"\bproduct\s++of\s++(.+?)\s++and\s++(.+)", r"(\1) * (\2)"),
    (r"\bdivide\s++by\s++(.+)", r"$ / (\1)"),
    (r"\bdivide\s++(.+?)\s++by\s++(.+)", r"(\1) / (\2)"),
    (r"\bdouble\s++(.+)", r"2 * (\1)"),
    (r"\btriple\s++(.+)", r"3 * (\1)"),
    (r"\b(?:halve|half(?:\s++of)?)\s++(.+)", r"(\1) / 2"),
    (r"\bdouble\b", "$ * 2"),
    (r"\btriple\b", "$ * 3"),
    (r"\bhalve\b", "$ / 2"),
    (r"\bsquare\s++(.+)", r"(\1) ^ 2"),
    (r"\bcube\s++(.+)", r"(\1) ^ 3"),
)

_LIST = re.compile(r"\b(?:add|sum|total|sum up|add up)\b(?:\s++(?:up|of))?\s++(.+)")
_BETWEEN = re.compile(r",(?:\s*+and\s)?|\sand\s")


def written(text: str) -> str:
    """The text in lower case with numbers and operators written as signs."""
    plain = "\n".join(" ".join(line.split()) for line in text.translate(_SIGNS).lower().splitlines() if line.strip())
    plain = _NUMBER_WORDS.sub(lambda match: str(_NUMBERS[match.group(1)]), plain.replace("-and-", " "))
    for words, sign in _WORDS:
        plain = words.sub(sign, plain)
    return plain


def steps(plain: str) -> list[str]:
    """The parts of a chain: "5 + 10, then multiply by 3" has two."""
    return [step.strip(" ,:?!.") for step in _STEPS.split(plain) if step.strip(" ,:?!.")]


def infix(step: str) -> str:
    """The step with its verbs turned into operators."""
    for order, sign in _ORDERS:
        step = order.sub(sign, step)
    listed = _LIST.search(step)
    if listed is None:
        return step
    terms = [f"({term})" for term in _BETWEEN.split(listed.group(1)) if term]
    return step[: listed.start()] + (" + ".join(terms) if len(terms) > 1 else f"$ + {terms[0]}")
