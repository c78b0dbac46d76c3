"""How long a prompt is to the model, said the same way wherever somebody writes one."""

from app.domain.agents import PromptBehaviour
from app.domain.prompts import filled
from app.llm.tokens import text_tokens
from app.ui.elements.format import tokens_about


async def prompt_tokens(behaviour: PromptBehaviour) -> str:
    """`about 12 tokens`: the prompt with its variables' defaults filled in."""
    defaults = {one.name: one.default for one in behaviour.variables}
    counted = await text_tokens(filled(behaviour.system_prompt, defaults), behaviour.model)
    return tokens_about(counted.tokens)
