import base64
import json

from app.domain.agents import Parameters
from app.domain.messages import (
    FilePart,
    ImagePart,
    Message,
    ReasoningPart,
    SentAttachment,
    SentKey,
    TextPart,
    ToolCall,
    ToolResult,
    sent_key,
    system_message,
    user_message,
)
from app.domain.streaming import ModelRequest
from app.domain.tools import ToolSpec
from app.llm.attachments.attachments import Outgoing
from app.llm.litellm.wire import Wire, parameters_of, tools_of

IMAGE = ImagePart(artifact="a1", media_type="image/png", alt="a cat")
FILE = FilePart(artifact="f1", media_type="text/csv", filename="data.csv", size=12)
RESULT = ToolResult(call_id="c1", name="f", parts=(TextPart(text="42"),))


def sent(*parts: ImagePart, why: str = "") -> dict[SentKey, Outgoing]:
    """These pictures go along, or do not where it is said why."""
    facts = [
        SentAttachment(
            artifact=part.artifact,
            name=part.name,
            disposition=part.disposition,
            how="reference" if why else "inline",
            why=why,
            media_type="image/png",
        )
        for part in parts
    ]
    return {sent_key(fact): Outgoing(fact, b"png") for fact in facts}


def written(*messages: Message, provider: str = "openai", images: tuple[ImagePart, ...] = ()) -> list[dict]:
    return Wire(provider, sent(*images)).messages(ModelRequest("x/y", messages))


def answer(model: str = "openai/gpt-4o") -> Message:
    return Message(
        role="assistant",
        model=model,
        parts=(
            ReasoningPart(text="hm", provider_fields={"field": "reasoning_content", "blocks": [{"type": "thinking"}]}),
            TextPart(text="I look."),
            ToolCall(
                call_id="c1", name="f", arguments={"x": "ü"}, provider_fields={"id": "long__id", "signature": "S"}
            ),
        ),
    )


def test_plain_texts_stay_plain():
    request = ModelRequest("x/y", (user_message("hi"),), system=system_message("be nice"))

    assert Wire("openai", {}).messages(request) == [
        {"role": "system", "content": "be nice"},
        {"role": "user", "content": "hi"},
    ]


def test_images_are_sent_as_data_and_files_as_a_line():
    [message] = written(user_message("look", IMAGE, FILE), images=(IMAGE,))

    text, image, file = message["content"]
    assert text == {"type": "text", "text": "look"}
    assert image["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(b'png').decode()}"
    facts = json.loads(file["text"].partition(": ")[2].rstrip("]"))
    assert facts == {"ref": "f1", "mime": "text/csv", "size": 12, "filename": "data.csv"}


def test_an_image_of_which_nothing_is_known_is_named_in_words():
    [message] = written(user_message("look", IMAGE))

    assert message["content"][0]["text"].startswith("look\n\n[Attached image, not shown: ")


def test_a_model_that_does_not_see_is_told_of_images_in_words():
    result = ToolResult(call_id="c1", name="draw", parts=(IMAGE,))
    image = IMAGE.model_copy(update={"path": "/cat.png"})
    request = ModelRequest("x/y", (user_message("look", image), answer(), Message.of_result(result), user_message("?")))
    shown = Wire("openai", sent(image, why="this model sees no pictures")).messages(request)

    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "user"]
    assert "image_url" not in json.dumps(shown)
    assert '"filename": "a cat", "path": "/cat.png"' in shown[0]["content"][0]["text"]
    assert "not shown since this model sees no pictures" in shown[2]["content"]


def test_a_file_is_named_with_its_path_and_the_tools_that_open_it():
    pdf = FilePart(
        artifact="0123456789abcdef" * 4, media_type="application/pdf", filename="a.pdf", size=9, path="/a.pdf"
    )
    reader = ToolSpec(name="pdf_text", description="", parameters={}, handles=("application/pdf",))
    other = ToolSpec(name="see", description="", parameters={}, handles=("image/*",))
    [message] = Wire("openai", {}, (other, reader)).messages(ModelRequest("x/y", (user_message("", pdf),)))

    [line] = [part["text"] for part in message["content"]]
    assert json.loads(line[line.index("{") : line.index("}") + 1]) == {
        "ref": "0123456789abcdef",
        "mime": "application/pdf",
        "size": 9,
        "filename": "a.pdf",
        "path": "/a.pdf",
    }
    assert line.endswith("Tools that can open it: pdf_text.")


def test_what_a_provider_wants_back_goes_back_to_it():
    assistant, tool = written(answer(), Message.of_result(RESULT))

    assert assistant["reasoning_content"] == "hm"
    assert assistant["thinking_blocks"] == [{"type": "thinking"}]
    [call] = assistant["tool_calls"]
    assert call["id"] == tool["tool_call_id"] == "long__id"
    assert call["provider_specific_fields"] == {"signature": "S"}
    assert json.loads(call["function"]["arguments"]) == {"x": "ü"}


def test_no_other_provider_gets_it():
    assistant, tool = written(answer("anthropic/claude"), Message.of_result(RESULT))

    assert set(assistant) == {"role", "content", "tool_calls"}
    [call] = assistant["tool_calls"]
    assert call["id"] == tool["tool_call_id"] == "c1"
    assert "provider_specific_fields" not in call


def test_a_failed_result_says_how_it_failed():
    failed = RESULT.model_copy(update={"status": "timeout"})

    assert written(answer(), Message.of_result(failed))[1]["content"] == "[timeout] 42"


def test_a_result_without_words_is_no_empty_message():
    empty = ToolResult(call_id="c1", name="f")

    assert written(answer(), Message.of_result(empty))[1]["content"]


def test_images_of_results_follow_behind_all_results_of_the_turn():
    seen = ToolResult(call_id="c1", name="f", parts=(IMAGE,))
    other = ToolResult(call_id="c2", name="g", parts=(TextPart(text="2"),))
    messages = (answer(), Message.of_result(seen), Message.of_result(other), user_message("and?"))

    shown = written(*messages, images=(IMAGE,))

    assert [message["role"] for message in shown] == ["assistant", "tool", "tool", "user"]
    assert [part["type"] for part in shown[3]["content"]] == ["text", "image_url", "text"]


def test_what_the_user_says_twice_is_one_message_for_the_providers_that_want_turns():
    stopped = Message(role="assistant", parts=(ReasoningPart(text="hm"),), partial=True)

    assert written(user_message("hi"), stopped, user_message("hello?")) == [{"role": "user", "content": "hi\n\nhello?"}]
    [both] = written(user_message("look", IMAGE), user_message("well?"), images=(IMAGE,))
    assert [part["type"] for part in both["content"]] == ["text", "image_url", "text"]


def test_a_message_that_was_stopped_before_its_first_word_is_left_out():
    stopped = Message(role="assistant", parts=(ReasoningPart(text="hm"),), partial=True)

    assert written(user_message("hi"), stopped) == [{"role": "user", "content": "hi"}]


def test_only_chosen_parameters_are_sent():
    assert parameters_of(Parameters(), with_tools=True) == {"max_tokens": 4096}
    chosen = Parameters(
        temperature=0, top_p=0.5, stop=("END",), seed=7, reasoning_effort="low", parallel_tool_calls=False
    )
    assert parameters_of(chosen, with_tools=True) == {
        "temperature": 0,
        "top_p": 0.5,
        "max_tokens": 4096,
        "stop": ["END"],
        "seed": 7,
        "reasoning_effort": "low",
        "parallel_tool_calls": False,
    }
    assert "parallel_tool_calls" not in parameters_of(chosen, with_tools=False)


def test_tools_are_sent_with_their_schema_as_it_is():
    schema = {"type": "object", "properties": {"x": {"type": "number"}}}

    [tool] = tools_of((ToolSpec(name="f", description="does f", parameters=schema),))

    assert tool == {"type": "function", "function": {"name": "f", "description": "does f", "parameters": schema}}


def test_a_tool_without_arguments_is_sent_with_a_schema_that_says_so():
    [tool] = tools_of((ToolSpec(name="f", description="does f", parameters={"type": "object"}),))

    function = tool["function"]
    assert isinstance(function, dict)
    assert function["parameters"] == {"type": "object", "properties": {}}
