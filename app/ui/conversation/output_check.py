"""Whether an answer is the JSON that its agent's output schema asks for, told below the answer."""

import asyncio

from app.domain.tools import JsonSchema
from app.engine.loop.output import check_output
from app.ui.conversation.failures import mark
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, tag


async def output_check(schema: JsonSchema, text: str) -> Html:
    """A line that says that the answer fits, or each thing that is wrong with it; checked beside the event loop."""
    problems = await asyncio.to_thread(check_output, schema, text)
    if not problems:
        return tag("div", mark("verified", "Fits the output schema."), data_testid="output-fits")
    told = mark("rule", f"Does not fit the output schema: {plural(len(problems), 'problem')}.", warn=True)
    listed = tag("ul", *(tag("li", problem) for problem in problems))
    return tag("div", told, listed, data_testid="output-misfit", cls="output-misfit")
