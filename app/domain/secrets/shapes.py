"""By how a key begins it can often be told whose it is, before it is sent to somebody else."""

import re

from app.domain.errors import WorkbenchError

_SHAPES: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("anthropic", "Anthropic", re.compile(r"sk-ant-")),
    ("openrouter", "OpenRouter", re.compile(r"sk-or-")),
    ("openai", "OpenAI", re.compile(r"sk-(proj|svcacct|admin)-")),
    ("gemini", "Google", re.compile(r"AIza[0-9A-Za-z_-]{30,}$")),
    ("groq", "Groq", re.compile(r"gsk_")),
    ("xai", "xAI", re.compile(r"xai-")),
    ("bedrock", "Amazon", re.compile(r"(AKIA|ASIA)[0-9A-Z]{16}$|ABSK|bedrock-api-key-")),
    ("github", "GitHub", re.compile(r"gh[pousr]_|github_pat_")),
    ("huggingface", "Hugging Face", re.compile(r"hf_")),
)


def check_owner(key: str, provider: str, title: str) -> None:
    """Raises `WorkbenchError`, which never quotes it, where the key is plainly one of another provider."""
    for owner, named, shape in _SHAPES:
        if owner != provider and shape.match(key):
            raise WorkbenchError(
                f"This looks like a key of {named}. It was not saved and not sent to {title}: "
                f"paste the one that {title} gave you, or choose {named} as the provider."
            )
