"""What the agent must be told: at once, or when it is ready.

Rules kept here:
- What was said to an agent that is not ready is kept in order and said when it is.
- A prompt that cannot be sent any more goes back to where it was typed: no text is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from msgspec import Struct, field

from eca_nvim.agents.base import Agent, Prompt, Selection
from eca_nvim.chat.vocabulary.effects import (
    Effect,
    TellAnswer,
    TellApproval,
    TellLogin,
    TellPrompt,
    TellRejection,
    TellSelection,
    TellSteer,
    TellStop,
    TellUnsteer,
)

log = logging.getLogger(__name__)

SelectionOf = Callable[[str], Selection]
"""Tells what answers the prompts of a chat."""


def deliver(agent: Agent, effect: Effect, selection_of: SelectionOf) -> None:
    """Tell an agent that is ready."""
    match effect:
        case TellPrompt(chat, text, contexts):
            agent.prompt(Prompt(chat, text, contexts, selection_of(chat)))
        case TellSteer(chat, text, contexts):
            agent.steer(chat, text, contexts)
        case TellUnsteer(chat):
            agent.unsteer(chat)
        case TellStop(chat):
            agent.stop(chat)
        case TellApproval(chat, call, remember):
            agent.approve(chat, call, remember=remember)
        case TellRejection(chat, call):
            agent.reject(chat, call)
        case TellAnswer(question, text):
            agent.answer(question, text)
        case TellSelection(chat):
            agent.choose(chat, selection_of(chat))
        case TellLogin(chat, text):
            agent.answer_login(chat, text)
        case _:
            raise TypeError(f"not for the agent: {effect!r}")


class Held(Struct):
    """What waits for the agent to be ready."""

    effects: list[TellPrompt | TellSteer | TellUnsteer] = field(default_factory=list)

    def hold(self, effect: Effect) -> None:
        """Keep an effect; what only concerns a turn that never began is dropped."""
        if isinstance(effect, (TellPrompt, TellSteer, TellUnsteer)):
            self.effects.append(effect)
        else:
            log.info("nobody is there to be told %s", type(effect).__name__)

    def for_the_next(self) -> frozenset[str]:
        """Keep the prompts for an agent to come; give the chats they are of.

        What steers a turn goes with the turn: the chat itself keeps its words.
        """
        self.effects = [effect for effect in self.effects if isinstance(effect, TellPrompt)]
        return frozenset(effect.chat for effect in self.effects)

    def take(self, chat: str | None = None) -> list[TellPrompt | TellSteer | TellUnsteer]:
        """Take out all, or all of one chat."""
        taken = [effect for effect in self.effects if chat in (None, effect.chat)]
        self.effects = [effect for effect in self.effects if effect not in taken]
        return taken
