"""Models of one family favour each other's answers, so a judge of another family is the better one."""

from collections.abc import Iterable

_MARKS = {
    "OpenAI": ("gpt", "chatgpt", "o1", "o3", "o4"), "Anthropic": ("claude",), "Google": ("gemini", "gemma"),
    "Meta": ("llama",), "Mistral": ("mistral", "mixtral", "ministral", "magistral", "codestral", "devstral"),
    "Alibaba": ("qwen", "qwq"), "DeepSeek": ("deepseek",), "xAI": ("grok",), "Cohere": ("command",),
    "Microsoft": ("phi",), "Amazon": ("nova", "titan"), "demo": ("agent",),
}  # fmt: skip


def family_of(model: str) -> str:
    """Whose the model is, by its name; empty where that does not tell."""
    name = model.rpartition("/")[2].casefold()
    words = name.replace(".", "-").replace(":", "-").split("-")
    return next((family for family, marks in _MARKS.items() if any(word.startswith(marks) for word in words)), "")


def family_warning(judge: str, models: Iterable[str]) -> str:
    """What to know of a judge and the models it judges; empty where their families differ or are not known."""
    family = family_of(judge)
    kin = sorted({model for model in models if family and family_of(model) == family})
    if not kin:
        return ""
    return (
        f"{judge} and {', '.join(kin)} are of one family, and models favour answers of their own family. "
        "Choose a judge of another family, or compare it with what people say."
    )
