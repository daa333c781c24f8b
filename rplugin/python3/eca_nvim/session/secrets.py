"""Secrets: what must not stand in the log, nor in what a chat shows of a server that ended."""

from __future__ import annotations

from msgspec.structs import replace

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.redaction import Redactor


def hide_answers(chat: Chat, intent: intents.Intent, redactor: Redactor) -> None:
    """Have the log hide what a login is given."""
    match intent:
        case intents.AnswerLogin(_, text):
            redactor.hide(text)
        case intents.AnswerQuestion(text=str(text)) if chat.turn.state is Turn.LOGIN:
            redactor.hide(text)


def without_secrets(ending: AgentExit, redactor: Redactor) -> AgentExit:
    """Hide what looks like a key in what a server has last written."""
    tail = tuple(map(redactor.redact, ending.stderr_tail))
    return replace(ending, reason=redactor.redact(ending.reason), stderr_tail=tail)
