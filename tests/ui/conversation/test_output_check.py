"""What is said below an answer that has to be JSON of a schema."""

from app.ui.conversation.answer_frame import output_check

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


async def test_an_answer_that_fits_is_shown_as_such():
    html = await output_check(CITY, '{"city": "Paris"}')
    assert "output-fits" in html and "Fits the output schema." in html


async def test_each_problem_is_named():
    html = await output_check({**CITY, "minProperties": 2}, "{}")
    assert "output-misfit" in html and "2 problems" in html
    assert html.count("<li>") == 2


async def test_what_the_model_wrote_is_text_and_no_markup():
    html = await output_check(CITY, '{"city": ["<img src=x onerror=alert(1)>"]}')
    assert "&lt;img src=x" in html and "<img" not in html
