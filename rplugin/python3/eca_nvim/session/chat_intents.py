"""Chat intents: applies to a chat the intents that change nothing else.

Rule kept here: an approval is for what the user saw, so the request is checked again first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from eca_nvim.chat.model.blocks import Changes
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.user_actions.answers import answer_question, previous_field
from eca_nvim.chat.user_actions.approvals import decide
from eca_nvim.chat.user_actions.folding import act, toggle
from eca_nvim.chat.user_actions.prompts import send_prompt, stop_turn, unqueue
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.session.chats import Chats, now

ChatIntent: TypeAlias = (
    intents.SendPrompt
    | intents.Unqueue
    | intents.StopTurn
    | intents.Decide
    | intents.AnswerQuestion
    | intents.PreviousField
    | intents.ToggleBlock
    | intents.ActOnBlock
)
"""Intents that change one chat and nothing else."""

ReadContexts: TypeAlias = Callable[[Sequence[object]], Iterable[Context]]
"""Reads the contexts of a prompt from the tables the editor sent."""


def apply_intent(
    chat: Chat, intent: ChatIntent, chats: Chats, read_contexts: ReadContexts
) -> Changes:
    """Apply an intent to a chat; returns what changed."""
    match intent:
        case intents.SendPrompt(_, text, tables, queue):
            contexts = tuple(read_contexts(tables))
            return send_prompt(chat, text, now(), contexts, queue=queue)
        case intents.Unqueue(_, index, edit):
            return unqueue(chat, index, now(), edit=edit)
        case intents.StopTurn():
            return stop_turn(chat, now())
        case intents.Decide(_, block, digest, choice, reason):
            chats.recheck_request(chat, block)
            return decide(chat, block, digest, choice, now(), reason)
        case intents.AnswerQuestion(_, block, digest, text, picked):
            return answer_question(chat, block, digest, text, now(), picked)
        case intents.PreviousField(_, block, digest):
            return previous_field(chat, block, digest, now())
        case intents.ToggleBlock(_, block, to_open):
            return toggle(chat, block, now(), to_open=to_open)
        case intents.ActOnBlock(_, block):
            return act(chat, block, now())
