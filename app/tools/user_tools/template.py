"""What a new tool file begins as: two tools that work, and comments that show the rest."""

import keyword
import re
from pathlib import PurePosixPath

NAME = "NAME"

TEMPLATE = '''\
# Tools of your own. Save this file, and a second later your agents can use what you changed.
#
# A function below `@tool` is a tool. The model gets to see its name, its docstring and its types, and nothing else:
# say there what the tool is for and what it returns. A file without any `@tool` makes a tool of every function that has
# a docstring; one whose name begins with `_` never is.
#
# Does a tool need a package? Take the first "# " away from the next five lines, and name it there. This page then says
# how to install what is missing.
#
# # /// script
# # dependencies = [
# #   "requests>=2",
# # ]
# # ///

from typing import Literal

from agent_playground import Context, ToolError, tool


@tool(title="Count", icon="tag", idempotent=True)
def NAME(text: str, what: Literal["words", "characters", "lines"] = "words") -> int:
    """Count the words, characters or lines of a text.

    Args:
        text: The text to count in.
        what: What to count.
    """
    if not text.strip():
        # The model reads the message of a ToolError and can try again, so tell it what to do.
        raise ToolError("The text is empty. Send one with at least one word.")
    if what == "words":
        return len(text.split())
    return len(text) if what == "characters" else len(text.splitlines())


# `async def` works too. The parameter of type `Context` is filled in by the app; the model does not see it.
@tool(title="Multiplication table", icon="grid_on")
def NAME_table(size: int, context: Context) -> str:
    """Make a multiplication table as a CSV file.

    Args:
        size: How many rows and columns, from 1 to 100.
    """
    if not 1 <= size <= 100:
        raise ToolError(f"A table of {size} rows cannot be made. Choose a size from 1 to 100.")
    rows = []
    for row in range(1, size + 1):
        rows.append(",".join(str(row * column) for column in range(1, size + 1)))
        context.progress(row, size, f"row {row}")  # shown while it runs; the time-out begins anew
    context.log(f"{size * size} products")  # shown with the call, as what you print
    context.artifact("\\n".join(rows), "table.csv")  # a file that is shown with the call and can be downloaded
    return f"A table of {size} × {size} is attached as table.csv."


# A class makes a kit: its public methods are the tools `notes__add` and `notes__all`. What the object remembers is gone
# when this file is changed, or was not used for a minute: keep in files what has to last.
#
# @tool(icon="sticky_note_2")
# class Notes:
#     def __init__(self) -> None:
#         self._notes: list[str] = []
#
#     def add(self, text: str) -> str:
#         """Keep a note."""
#         self._notes.append(text)
#         return f"Kept as note {len(self._notes)}."
#
#     def all(self) -> list[str]:
#         """Every note so far."""
#         return self._notes
'''


def template(file: str) -> str:
    """The text of a new file of that name; its tools are called after it, so that no two files clash."""
    return TEMPLATE.replace(NAME, _identifier(PurePosixPath(file).stem))


def _identifier(stem: str) -> str:
    name = re.sub(r"\W+", "_", stem.lower(), flags=re.ASCII).strip("_")
    usable = name.isidentifier() and not keyword.iskeyword(name)
    return name if usable else f"tool_{name}".rstrip("_")
