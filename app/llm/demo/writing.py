"""Texts written, reviewed, revised, summarised and looked through: by counting words, which anyone can follow.

What is asked for stands before a colon, the text behind it: `Summarise this file: …`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from app.llm.demo.plan import Answer, Ask

LONGEST_TEXT = 100_000
"""Characters that are read of one text."""
LONGEST_SENTENCE = 20
"""Words; a longer one is told to be split."""
MOST_SENTENCES = 2
"""Sentences of a summary, and of an answer out of notes."""
MOST_ADVISED = 20
"""Words that a text is freed of in one go."""
NOT_THERE = "The notes say nothing about that."
_ORDER = re.compile(
    r"\W*(?:please\s+)?(?:(?P<verb>write|review|revise|sort|answer|summari[sz]e)|sum up)\b(?P<what>[^:\n]{0,200}):"
    r"(?P<text>.*)",
    re.IGNORECASE | re.DOTALL,
)
_MEANT = {
    "write": re.compile(r"\b(?:message|note|letter|e-?mail|announcement|text)\b", re.IGNORECASE),
    "sort": re.compile(r"\brequest\b", re.IGNORECASE),
    "answer": re.compile(r"\bnotes\b", re.IGNORECASE),
}
"""What is written, sorted, and answered from: all else is for other scripts."""
_BETWEEN = re.compile(r"(?<=[.!?])\s+|\n+")
_LITTLE = re.compile(r"(?:An?|The|This|That|These|We|You|It|There|Our|My|Your|Please|In|On|At|From|To|For)\b")
_WORD = re.compile(r"[^\W\d_]{4,40}|\d{1,40}")
_FILLERS = re.compile(r"\b(?:really|just|very|actually|basically|simply)\b", re.IGNORECASE)
_QUOTED = re.compile(r"“([^”]{1,40})”")
_BREAK = ", and that "


def edit_text(ask: Ask) -> Answer | None:
    """What was asked for about a text; `None` where nothing of the kind was."""
    order = _ORDER.match(ask.text)
    if order is None:
        return None
    verb = (order["verb"] or "").lower()
    if verb in _MEANT and not _MEANT[verb].search(order["what"]):
        return None
    text = order["text"].strip()[:LONGEST_TEXT]
    said = _DEEDS.get(verb, _summarised)(text) if text else "There is no text behind the colon."
    return Answer(text=said)


def words_of(text: str) -> list[str]:
    """Its numbers, and the beginnings of its longer words, so that “charged” and “charges” are one."""
    return [word[:5].casefold() for word in _WORD.findall(text)]


def _written(text: str) -> str:
    """A first draft as drafts are: in one breath, with words that say nothing. Without a full stop it is a topic."""
    if not text.endswith((".", "!", "?")):
        return f"Hello,\n\nI really just wanted to write to you about this: {text}.\n\nBest regards"
    points = [one.rstrip(".!?") for one in _sentences(text)]
    said = _BREAK.join(one[0].lower() + one[1:] if _LITTLE.match(one) else one for one in points)
    return f"Hello,\n\nI really just wanted to tell you that {said}.\n\nBest regards"


def _reviewed(text: str) -> str:
    faults = []
    if fillers := dict.fromkeys(word.lower() for word in _FILLERS.findall(text)):
        faults.append(f"Leave out {', '.join(f'“{word}”' for word in fillers)}.")
    longest = max((len(one.split()) for one in _sentences(text)), default=0)
    if longest > LONGEST_SENTENCE:
        faults.append(f"Split the sentence of {longest} words.")
    return f"{faults[0] if faults else 'Nothing to change.'}\n\nScore: {10 - 3 * len(faults)}"


def _revised(told: str) -> str:
    """The text with what the advice says done, and nothing else."""
    advice, _, text = told.partition("\nText:")
    text = text.strip()
    for word in islice(dict.fromkeys(_QUOTED.findall(advice)), MOST_ADVISED):
        text = re.sub(rf"\b{re.escape(word)}\b ?", "", text, flags=re.IGNORECASE)
    if "split" in advice.lower():
        head, *others = text.split(_BREAK)
        text = ". ".join([head, *(one[:1].upper() + one[1:] for one in others)])
    return text


def _summarised(text: str) -> str:
    """The sentences that hold most of what the text speaks of most, in their order."""
    heading, _, content = text.partition("\n\n")
    is_file = heading.startswith("/") and "\n" not in heading
    sentences = list(dict.fromkeys(_sentences(content if is_file else text)))
    counted = Counter(word for one in sentences for word in words_of(one))
    return " ".join(_best(sentences, lambda one: sum(counted[word] for word in set(words_of(one)))))


def _answered(told: str) -> str:
    notes, _, question = told.rpartition("\nRequest:")
    asked = set(words_of(question))
    near = [one for one in _sentences(notes) if asked & set(words_of(one))]
    return " ".join(_best(near, lambda one: len(asked & set(words_of(one))))) or NOT_THERE


def _sentences(text: str) -> list[str]:
    return [one.strip(" -*#\t") for one in _BETWEEN.split(text) if one.strip(" -*#\t.!?")]


def _best(sentences: Iterable[str], weight: Callable[[str], int]) -> list[str]:
    places = list(enumerate(sentences))
    chosen = sorted(places, key=lambda one: -weight(one[1]))[:MOST_SENTENCES]
    return [sentence for _, sentence in sorted(chosen)]


_DEEDS: Mapping[str, Callable[[str], str]] = {
    "write": _written, "review": _reviewed, "revise": _revised, "sort": str, "answer": _answered,
}  # fmt: skip
