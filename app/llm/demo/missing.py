"""What is said when a tool was needed and the agent has none, or when one did not do its work."""

from app.domain.messages import ToolResult
from app.llm.demo.answer import Answer, fenced
from app.llm.demo.ask import Ask


def without(ask: Ask, *tools: str) -> Answer | None:
    """An answer that names the first of these tools that the agent has not got, else `None`."""
    absent = next((tool for tool in tools if tool not in ask.tools), None)
    if absent is None:
        return None
    return Answer(
        text=f"For that I would call the tool `{absent}`, but this agent is not allowed to use it. "
        "Switch it on in the list of tools beside the conversation, or choose an agent that has it, and ask me again."
    )


def told(result: ToolResult) -> Answer:
    """The failure of a tool call in words."""
    match result.status:
        case "denied":
            return Answer(
                text=f"You did not allow the call of `{result.name}`, so I stopped there. {result.text}".strip()
            )
        case "timeout":
            return Answer(
                text=f"The tool `{result.name}` took too long and was stopped, so I have no result to show you."
            )
        case "cancelled":
            return Answer(text=f"The call of `{result.name}` was cancelled before it had a result.")
        case _:
            return Answer(text=f"The tool `{result.name}` could not do that. It said:\n\n{fenced(result.text)}")
