"""Login: sends the secret that the agent needs to log in to a provider.

Rules kept here:
- The secret is sent only while a login runs: at any other time it would become a prompt.
- An open question accepts one of its options, or free text if it allows that.
"""

from __future__ import annotations

from eca_nvim.chat.handlers.questions import question_of_agent
from eca_nvim.chat.handlers.turn import send_login
from eca_nvim.chat.model.blocks import Block, open_question
from eca_nvim.chat.model.changes import Changes
from eca_nvim.chat.model.chat import Chat, Lane
from eca_nvim.chat.update import Update
from eca_nvim.chat.user_actions.answers import take_answer
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.states import Turn

OVER = "the login has ended: what you typed was not sent"
NO_OPTION = "this is not one of the options: nothing was sent"


def answer_login(chat: Chat, text: str, now: int) -> Changes:
    """Send what the user typed to the login, as the answer to its question if there is one."""
    update = Update(chat, chat.root, now)
    if chat.turn.state is not Turn.LOGIN:
        update.ops.append(Notify("warn", OVER))
    elif (asked := question_of_agent(chat)) is None:
        send_login(update, text)
    else:
        _answer_question(update, *asked, text.strip())
    return update.finish()


def _answer_question(update: Update, block: Block, lane: Lane, text: str) -> None:
    question = open_question(block)
    if question is not None and (question.asked.allow_freeform or question.offers(text)):
        take_answer(update, block, lane, text)
    else:
        update.ops.append(Notify("warn", NO_OPTION))
