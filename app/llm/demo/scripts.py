"""Which script answers: the first that understands what was asked."""

from collections.abc import Callable

from app.llm.demo.ask import Ask
from app.llm.demo.calling import call_tool, loop
from app.llm.demo.cleaning import clean_data
from app.llm.demo.failing import act_out
from app.llm.demo.files import use_files
from app.llm.demo.plan import Answer, Plan, answer_at
from app.llm.demo.python import run_code
from app.llm.demo.sums import work_out
from app.llm.demo.talk import chat, fallback, recite, too_long
from app.llm.demo.tasks import hand_over

Script = Callable[[Ask], Plan | Answer | None]

# From the most to the least particular: "write 2 + 2 to /sum.txt" is about a file, "think about 2 + 2" is a sum;
# what a task is to do is for the one that gets it.
SCRIPTS: tuple[Script, ...] = (
    hand_over, act_out, loop, call_tool, run_code, use_files, clean_data, recite, work_out, chat,
)  # fmt: skip


LONGEST_ASK = 4_000
"""Characters of a message that scripts are tried on."""


def answer_to(ask: Ask) -> Answer:
    """What the demo model does next; it always has an answer, which may take it some milliseconds."""
    if len(ask.text) > LONGEST_ASK:
        return too_long(ask, LONGEST_ASK)
    found = next((found for found in (script(ask) for script in SCRIPTS) if found is not None), None) or fallback(ask)
    return found if isinstance(found, Answer) else answer_at(found, ask.rounds)
