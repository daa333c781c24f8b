"""Secrets: kept out of the log, and out of what a chat shows when the server ends."""

from __future__ import annotations

from msgspec.structs import replace

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.user_actions.answers import asks_secret
from eca_nvim.chat.vocabulary import intents
from eca_nvim.redaction import Redactor


def hide_answers(chat: Chat, intent: intents.Intent, redactor: Redactor) -> None:
    """Register the answers to a login and other secrets, so that the log hides them."""
    match intent:
        case intents.AnswerLogin(_, text):
            redactor.hide(text)
        case intents.AnswerQuestion(_, block, text=str(text)) if asks_secret(chat, block):
            redactor.hide(text)


def without_secrets(ending: AgentExit, redactor: Redactor) -> AgentExit:
    """Return the ending with everything that looks like a key hidden."""
    tail = tuple(map(redactor.redact, ending.stderr_tail))
    return replace(ending, reason=redactor.redact(ending.reason), stderr_tail=tail)
