"""Questions of the server to the user."""

from typing import ClassVar

from eca_nvim.protocol.base.types import Request, Wire


class QuestionOption(Wire, frozen=True, kw_only=True):
    """An answer to choose; its label is sent back."""

    label: str
    description: str | None = None


class AnswerResult(Wire, frozen=True, kw_only=True):
    """The user's answer: an option's label or free text; None if cancelled."""

    answer: str | None
    cancelled: bool


class AskQuestion(Request[AnswerResult], frozen=True, kw_only=True):
    """A tool or a login asks the user a question.

    `tool_call_id` is the call that asks; `request_id` is the server's own id (not documented).
    """

    method: ClassVar[str] = "chat/askQuestion"

    chat_id: str | None = None
    question: str = ""
    options: tuple[QuestionOption, ...] | None = None
    allow_freeform: bool = True
    tool_call_id: str | None = None
    request_id: str | None = None
