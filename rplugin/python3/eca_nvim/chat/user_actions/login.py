"""Login: what the agent needs to log in to a provider, a secret that goes to the agent alone.

Rules kept here:
- Only while a login runs does the agent get it: at any other time it would be a prompt.
- An open question takes one of its options, or the user's own words if it allows them.
"""

from __future__ import annotations

from eca_nvim.chat.handlers.questions import close_question, question_of_agent
from eca_nvim.chat.handlers.turn import tell_login
from eca_nvim.chat.model.blocks import Block, open_question
from eca_nvim.chat.model.changes import Changes
from eca_nvim.chat.model.chat import Chat, Lane
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.states import Turn

OVER = "no login runs any more: what you typed was not sent"
NO_OPTION = "that is no option of the question: nothing was sent"


def answer_login(chat: Chat, text: str, now: int) -> Changes:
    """Give the login what the user typed: the answer to its question, else what it asks for."""
    update = Update(chat, chat.root, now)
    if chat.turn.state is not Turn.LOGIN:
        update.ops.append(Notify("warn", OVER))
    elif (asked := question_of_agent(chat)) is None:
        tell_login(update, text)
    else:
        _answer_question(update, *asked, text.strip())
    return update.finish()


def _answer_question(update: Update, block: Block, lane: Lane, text: str) -> None:
    question = open_question(block)
    if question is not None and (question.asked.allow_freeform or question.offers(text)):
        close_question(update, block, lane, text)
    else:
        update.ops.append(Notify("warn", NO_OPTION))
