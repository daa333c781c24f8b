"""Effects for the agent: sent at once, or held until it is ready.

Rules kept here:
- Prompts and steering for an agent that is not ready are held in order and sent when it is. So is a
  prompt while its contexts are read, and what follows it in its chat.
- A prompt that can no longer be sent goes back to the input: no text is lost.
"""

from __future__ import annotations

import logging

from msgspec import Struct, field

from eca_nvim.agents.base import Agent, Prompt
from eca_nvim.chat.vocabulary.effects import (
    Effect,
    TellAnswer,
    TellDecision,
    TellForm,
    TellGiveUp,
    TellLogin,
    TellPrompt,
    TellSteer,
    TellStop,
    TellUnsteer,
)

log = logging.getLogger(__name__)


def deliver(agent: Agent, effect: Effect) -> None:
    """Send an effect to an agent that is ready."""
    match effect:
        case TellPrompt(chat, text, contexts):
            agent.prompt(Prompt(chat, text, contexts))
        case TellSteer(chat, text, contexts):
            agent.steer(chat, text, contexts)
        case TellUnsteer(chat):
            agent.unsteer(chat)
        case TellStop(chat):
            agent.stop(chat)
        case TellGiveUp(chat):
            agent.give_up(chat)
        case TellDecision(chat, call, choice):
            agent.decide(chat, call.id, choice, call)
        case TellAnswer(question, text):
            agent.answer(question, text)
        case TellForm(question, content):
            agent.answer_form(question, content)
        case TellLogin(chat, text):
            agent.answer_login(chat, text)
        case _:
            raise TypeError(f"not for the agent: {effect!r}")


class HeldEffects(Struct):
    """Effects held until the agent is ready, or until their contexts are read."""

    effects: list[TellPrompt | TellSteer | TellUnsteer] = field(default_factory=list)

    def hold(self, effect: Effect) -> None:
        """Hold a prompt or steering; other effects concern a turn that never began: drop them."""
        if isinstance(effect, (TellPrompt, TellSteer, TellUnsteer)):
            self.effects.append(effect)
        else:
            log.info("no agent is ready: dropped %s", type(effect).__name__)

    def has(self, effect: Effect) -> bool:
        """Return whether this very effect is held."""
        return any(held is effect for held in self.effects)

    def precedes(self, effect: Effect) -> bool:
        """Return whether an effect must wait for one that is held for its chat."""
        if not isinstance(effect, TellPrompt | TellSteer | TellUnsteer | TellStop):
            return False
        return any(held.chat == effect.chat for held in self.effects)

    def keep_prompts(self) -> frozenset[str]:
        """Drop all but the prompts, which wait for the next agent; returns their chats' ids.

        Steering ends with its turn; the chat itself keeps the text.
        """
        self.effects = [effect for effect in self.effects if isinstance(effect, TellPrompt)]
        return frozenset(effect.chat for effect in self.effects)

    def take(self, chat: str | None = None) -> list[TellPrompt | TellSteer | TellUnsteer]:
        """Remove and return all effects, or those of one chat."""
        taken = [effect for effect in self.effects if chat in (None, effect.chat)]
        self.effects = [effect for effect in self.effects if effect not in taken]
        return taken
