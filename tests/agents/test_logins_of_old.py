"""Logins of older servers: an answer is a prompt, whose response may ask again."""

from typing import Any

import pytest
from tests.agents.turns import CHAT

from eca_nvim.agents.eca.older.chat_ids import ChatIds
from eca_nvim.agents.eca.older.dialect import Dialect
from eca_nvim.agents.eca.older.draft import Draft
from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.agents.eca.older.translator import Translator
from eca_nvim.agents.eca.prompts import SelectedPrompt, prompt_params
from eca_nvim.protocol.eca.chat import ChatStatus, PromptResult, PromptStatus, StatusChanged
from eca_nvim.protocol.eca.content import ContentReceived, ProgressContent, ProgressState, Role

TAKEN = PromptResult(chat_id="old", model="m", status=PromptStatus.PROMPTING)
ASKED = PromptResult(chat_id="old", model="m", status=PromptStatus.LOGIN)
LOGIN = StatusChanged(chat_id=CHAT, status=ChatStatus.LOGIN)
RUNNING = StatusChanged(chat_id=CHAT, status=ChatStatus.RUNNING)
FINISHED = ContentReceived(
    chat_id="old", role=Role.SYSTEM, content=ProgressContent(state=ProgressState.FINISHED)
)
END = ContentReceived(
    chat_id=CHAT, role=Role.SYSTEM, content=ProgressContent(state=ProgressState.FINISHED)
)


class Server:
    """A server of the second document, which asks for a login."""

    def __init__(self) -> None:
        self.heard: list[object] = []
        nothing: Any = None
        ids, dialect = ChatIds(), Dialect()
        dialect.read(read_notification("config/updated", {"chat": {"behaviors": ["agent"]}}))
        self.translator = Translator(
            dialect,
            ids,
            Draft((), nothing, nothing),
            nothing,
            self.heard.extend,
            nothing,
            lambda _chat: False,
        )
        prompt = SelectedPrompt(CHAT, "hello")
        self.translator.prompt(prompt, prompt_params(prompt, "hello"))
        self.respond(prompt, ASKED)
        assert self.heard[1:] == [LOGIN]
        self.heard.clear()

    def answer(self, text: str = "key", *, cancels: bool = False) -> SelectedPrompt:
        answer = SelectedPrompt(CHAT, text)
        params = self.translator.login_answer(answer, prompt_params(answer, text), cancels=cancels)
        assert params.chat_id == "old"
        return answer

    def finish(self) -> None:
        self.heard += self.translator.read(FINISHED)

    def respond(self, prompt: SelectedPrompt, result: PromptResult | None) -> None:
        self.translator.answered(prompt, result, accepted=result is not None)


def test_a_turn_begins_when_the_answer_is_taken() -> None:
    server = Server()
    server.respond(server.answer(), TAKEN)
    server.finish()
    assert server.heard == [RUNNING, END]


def test_a_turn_that_has_finished_before_the_response_begins_and_ends_with_it() -> None:
    server = Server()
    answer = server.answer()
    server.finish()
    assert server.heard == []
    server.respond(answer, TAKEN)
    assert server.heard == [RUNNING, END]


@pytest.mark.parametrize(("result", "heard"), [(ASKED, [LOGIN]), (None, [])])
def test_the_login_goes_on_if_it_asks_again_or_refuses(
    result: PromptResult | None, heard: list[object]
) -> None:
    server = Server()
    answer = server.answer()
    server.finish()
    server.respond(answer, result)
    assert server.heard == heard
    server.respond(server.answer(), TAKEN)
    assert server.heard == [*heard, RUNNING]


def test_the_last_of_two_answers_counts() -> None:
    server = Server()
    first, last = server.answer(), server.answer()
    server.respond(first, TAKEN)
    assert server.heard == []
    server.respond(last, TAKEN)
    assert server.heard == [RUNNING]


def test_a_cancelled_login_begins_no_turn() -> None:
    server = Server()
    answer, cancelled = server.answer(), server.answer("cancel", cancels=True)
    for prompt in (answer, cancelled):
        server.respond(prompt, TAKEN)
    server.finish()
    assert server.heard == [END]
