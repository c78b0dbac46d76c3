"""Plain talk: greetings, help, thinking aloud, and what to try when nothing was understood."""

import re

from app.llm.demo.answer import Answer
from app.llm.demo.ask import Ask

LABEL = (
    "I am the **built-in demo model**: I follow scripts, I am not an AI. To talk to a real model, set a provider's key "
    "(for example `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`) or start a local model server such as Ollama, and choose "
    "the model in the agent's settings."
)
IDEAS = """Try one of these:

- *What is 5 + 10, then multiply by 3?*
- *Calculate 2+2 and 3+3 in parallel*
- *Run this Python code: `print("hello")`*
- *Write hello to /notes.txt*, then *read /notes.txt* or *list my files*
- *Think about the sea*, *show me Markdown*, *tell me a long story*, *be slow*
- *Fail with rate limit* or *get cut off*, to see what an error looks like
- *Loop* or *call delete_everything*, to see what stops an agent"""

_THINK = re.compile(
    r"\b(?:think|reason|reflect|ponder|meditate)\b(?:\s+(?:hard|deeply|carefully|again))?\s*(?:(?:about|of|on|over)\s+(?P<topic>.+))?",
    re.IGNORECASE | re.DOTALL,
)


def _is(words: str, *, whole: bool = False) -> re.Pattern[str]:
    return re.compile(rf"^\W*(?:{words})\W*$" if whole else rf"\b(?:{words})\b", re.IGNORECASE)


_HELLO = _is(
    r"(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|hallo|moin|yo)"
    r"(?:\W+(?:there|you|again|demo|agent|all|everyone|world))?",
    whole=True,
)
_HELP = _is(
    r"help|what can (?:you|i) do|what do you do|how (?:do|does) (?:this|it|you) work"
    r"|what can i (?:ask|try)|commands|examples?|get started|what (?:are|is) (?:this|your)"
)
_WHO = _is(
    r"who are you|what are you|are you (?:an? )?(?:ai|real|human|bot|gpt\S*|claude|demo|robot)"
    r"|your name|which model|what model|introduce yourself"
)
_THANKS = re.compile(
    r"\b(?:thanks|thank you|thx)\b"
    r"|^\W*(?:cheers|great|nice|cool|awesome|wonderful|perfect|well done|good (?:job|work))\b",
    re.IGNORECASE,
)
_BYE = _is(r"bye|goodbye|see you|good night|farewell|ciao", whole=True)
_HOW = _is(r"how are you|how is it going|how's it going|how do you do|what's up|sup")


def chat(ask: Ask) -> Answer | None:
    thinking = _THINK.search(ask.text)
    if thinking:
        return _thinking(ask, (thinking.group("topic") or "").strip(" .!?"))
    for words, text in _REPLIES:
        if words.search(ask.text):
            return Answer(text=_labelled(ask, text))
    return None


_REPLIES: tuple[tuple[re.Pattern[str], str], ...] = (
    (_HELLO, f"Hello! {IDEAS}"),
    (
        _WHO,
        f"{LABEL}\n\nWhat I do is real all the same: the tools I call are the real tools, and every step is in "
        f"the trace.\n\n{IDEAS}",
    ),
    (_HELP, f"I can call tools, and you can watch me do it. {IDEAS}"),
    (_HOW, f"All my scripts are in order, thank you. {IDEAS}"),
    (_BYE, "Goodbye! This conversation stays under Playground, and its runs stay under Runs."),
    (_THANKS, "You are welcome! Open the run on the Runs page to see each step of what just happened."),
)


def fallback(ask: Ask) -> Answer:
    """An answer to what no script understands."""
    if not ask.text:
        return Answer(text=_labelled(ask, f"There was no text in that message. {IDEAS}"))
    return Answer(text=f"{LABEL}\n\nFor this message I have no script. {IDEAS}")


def too_long(ask: Ask, most: int) -> Answer:
    """An answer to what no script is tried on."""
    words = f"This message has {len(ask.text):,} characters, and my scripts are for messages of up to {most:,}."
    return Answer(text=f"{LABEL}\n\n{words} Take the part of it that matters, or choose a real model.")


def _labelled(ask: Ask, text: str) -> str:
    """The text, with the label before it when nothing was answered yet."""
    return f"{LABEL}\n\n{text}" if ask.is_first and LABEL not in text else text


def _thinking(ask: Ask, topic: str) -> Answer:
    subject = topic[:120] or "this"
    thought = (
        f"I was asked to think about {subject}. Let me take that apart.\n\n"
        f"First, what is it? Before I say anything about {subject}, I should say what I take it to mean, because two "
        "people may mean two things by one word.\n\n"
        "Second, what is known? Some of it can be looked up, some can be worked out, and some can only be guessed. A "
        "good answer keeps these three apart.\n\n"
        "Third, what would change my mind? If I cannot name anything, I am not thinking, I am repeating.\n\n"
        "Now I have enough to answer in a few sentences."
    )
    text = (
        f"I thought about **{subject}** in three steps: what it means, what is known, and what would change the "
        "answer. You can read the thinking above this message.\n\n"
        "A real model would now have an opinion. I only show what one looks like while it thinks."
    )
    return Answer(text=_labelled(ask, text), thought=thought)
