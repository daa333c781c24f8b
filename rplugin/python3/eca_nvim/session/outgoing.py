"""Outgoing: what waits for the agent, in order."""

from msgspec import Struct, field

from eca_nvim.chat.vocabulary.effects import Effect, Prompt


class Held(Struct, eq=False):
    """A call that waits; `prompt` is None if it steers a turn whose prompt waits before it."""

    chat_id: str
    make: Effect
    prompt: Prompt | None = None


class HeldCalls(Struct):
    """Calls held until the agent is ready, or until the contexts of a prompt are read."""

    calls: list[Held] = field(default_factory=list)

    def hold(self, prompt: Prompt) -> None:
        """Hold a prompt."""
        self.calls.append(Held(prompt.chat_id, lambda it: it.prompt(prompt), prompt))

    def has(self, prompt: Prompt) -> bool:
        """Return whether this very prompt is held."""
        return any(held.prompt is prompt for held in self.calls)

    def precedes(self, chat_id: str) -> bool:
        """Return whether something is held for a chat, which comes before what follows."""
        return any(held.chat_id == chat_id for held in self.calls)

    def keep_prompts(self) -> frozenset[str]:
        """Drop all but the prompts, which wait for the next agent; returns their chats' ids.

        Steering ends with its turn; the chat itself keeps the text.
        """
        self.calls = [held for held in self.calls if held.prompt is not None]
        return frozenset(held.chat_id for held in self.calls)

    def take(self, chat_id: str | None = None) -> list[Held]:
        """Remove and return all calls, or those of one chat."""
        taken = [held for held in self.calls if chat_id in (None, held.chat_id)]
        self.calls = [held for held in self.calls if held not in taken]
        return taken

    def take_prompts(self, chat_id: str | None = None) -> list[Prompt]:
        """Remove all calls, or those of one chat; return the prompts among them."""
        return [held.prompt for held in self.take(chat_id) if held.prompt is not None]
