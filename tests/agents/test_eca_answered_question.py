"""Questions and answers, read from the calls that asked."""

import pytest
from tests.agents.test_eca_chat_content import event_of
from tests.support.screen import Value

from eca_nvim.chat.vocabulary.events import Dialogue, QuestionAsked, ToolFinished

CALL: dict[str, Value] = {"type": "toolCalled", "id": "t", "name": "ask_user", "error": False}
ASKED = {
    "question": "Which?",
    "options": [{"label": "red", "description": "warm"}, {"label": "blue"}, "green", 3],
}


def dialogue(**fields: Value) -> Dialogue | None:
    event = event_of({**CALL, "arguments": ASKED, **fields})
    assert isinstance(event, ToolFinished)
    return event.dialogue


def outputs(text: str) -> list[Value]:
    return [{"type": "text", "text": text}]


def test_the_question_is_in_the_arguments_and_the_answer_in_the_output() -> None:
    options = (("red", "warm"), ("blue", ""), ("green", ""))
    asked = QuestionAsked("t", "Which?", options, tool_call_id="t")
    assert dialogue(outputs=outputs("User answered: blue")) == Dialogue(asked, "blue")
    assert dialogue(outputs=outputs("User cancelled."), error=True) == Dialogue(asked, None)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "read_file", "outputs": outputs("User answered: blue")},
        {"arguments": {"question": 3}, "outputs": outputs("User answered: blue")},
        {"outputs": outputs("something else")},
        {"outputs": []},
    ],
)
def test_what_is_no_question_is_a_call_like_any_other(fields: dict[str, Value]) -> None:
    assert dialogue(**fields) is None
