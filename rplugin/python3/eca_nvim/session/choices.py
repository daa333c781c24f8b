"""What the user may choose from, and what is chosen where nobody chose.

Rules kept here:
- What the user chose for a chat stays, whatever defaults the agent announces later.
- What the agent says of one chat holds for that chat, and what it says it answers with.
- What the agent forces (ECA: selectModel, selectAgent) holds for every chat; while one chat runs,
  its prompt has led to it (`/model`), and it holds for that chat. What an agent forces first in
  its life are its defaults: they do not overrule a choice that is still offered.
- What was last chosen in this project comes before the agent's defaults, where it is offered.
- Variants belong to a model: one that the model is known not to have is refused.
- Where an agent is chosen for a chat that was never prompted, and no model, the model is the
  agent's business: it is not known before the first answer. Behaviors, as agents of older servers
  are called, have no models: what was chosen, or is the default, stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec.structs import replace

from eca_nvim.agents.base import Selection
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.events import ChoicesChanged, PromptAnswered, SelectionChanged
from eca_nvim.chat.vocabulary.ops import BlockKind, SetChoices
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.session.persistence import Keeper

SELECTABLE = ("model", "agent", "variant")


class NotOffered(Exception):
    """A choice that cannot be made; its text tells the user why."""


def selection(chat: Chat) -> Selection:
    """Tell what answers the prompts of a chat."""
    selected = chat.selected
    return Selection(selected.model, selected.agent, selected.variant, selected.trust)


class Choices:
    """The agent's offers, its defaults, and which chats have their own will."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._offers: dict[str, Sequence[str]] = {}
        self._variants: dict[str, Sequence[str]] = {}  # by model
        self._defaults = SelectionChanged()
        self._chosen: dict[str, set[str]] = {}
        self._forced: set[str] = set()  # what the agent forced since it started
        self._overruled: set[str] = set()  # chats whose prompt was sent with another model
        self._wishes: dict[str, Mapping[str, str]] = {}  # what was kept when a chat began
        self._bring_models = True
        self.welcome: str | None = None

    @property
    def lack_models(self) -> bool:
        """Say whether the agent said that it has no model; one that says nothing may have some."""
        return self._offers.get("models") == ()

    def take(self, event: ChoicesChanged, chat: Chat | None = None) -> SetChoices:
        """Take what the agent announces, of all chats or of one; gives the offers as a whole."""
        offers = {"models": event.models, "agents": event.agents}
        self._offers |= {key: value for key, value in offers.items() if value is not None}
        if event.chat_id is None:
            told = {key: getattr(event, key) for key in SELECTABLE}
            known = {key: value for key, value in told.items() if value is not None}
            self._defaults = replace(self._defaults, **known)
        elif chat is not None:
            self.keep(chat.id, announced(event))
        if event.variants is not None:
            model = event.model or (chat.selected.model if chat else self._defaults.model)
            self._variants[model or ""] = event.variants
        if event.agents is not None:
            self._bring_models = event.bring_models
        self.welcome = event.welcome or self.welcome
        return SetChoices({**self._offers, "variants": dict(self._variants)})

    def force(
        self, event: ChoicesChanged, chats: Sequence[Chat]
    ) -> Iterator[tuple[Chat, SelectionChanged]]:
        """Take what the agent forces; gives the chats that must follow, and in what."""
        again = self._forced & {*event.forced}
        self._forced.update(event.forced)
        running = [chat for chat in chats if chat.turn.state is not Turn.IDLE]
        for chat in running if len(running) == 1 else chats:
            must = {
                what: getattr(event, what)
                for what in event.forced
                if what in again or not self._is_offered(what, getattr(chat.selected, what))
            }
            if must:
                yield chat, self._follow(chat, SelectionChanged(**must), event.variant)

    def _follow(
        self, chat: Chat, choice: SelectionChanged, variant: str | None
    ) -> SelectionChanged:
        if choice.model is not None:
            had = chat.selected.variant or ""
            kept = had if had in self._of(choice.model) else ""
            choice = replace(choice, variant=kept if variant is None else variant)
            if chat.turn.unanswered:
                self._overruled.add(chat.id)
        self.keep(chat.id, choice)
        return choice

    def _is_offered(self, what: str, name: str | None) -> bool:
        return not name or name in self._offers.get(f"{what}s", ())

    def answered(self, chat: str, answer: PromptAnswered) -> PromptAnswered:
        """Take the model that answers a prompt: no news where another one was forced since."""
        if chat in self._overruled:
            self._overruled.discard(chat)
            answer = replace(answer, model=None)
        self.keep(chat, SelectionChanged(answer.model))
        return answer

    def agent_gone(self) -> None:
        """Take that what is forced next are the defaults of another life."""
        self._forced.clear()
        self._overruled.clear()

    def choose(self, chat: Chat, what: str, value: object) -> SelectionChanged:
        """Take a user's choice. Raises NotOffered."""
        choice = _choice(what, value)
        if choice is None:
            raise NotOffered(f"{value!r} is no {what}")
        model, variants = chat.selected.model, self._variants.get(chat.selected.model or "")
        if choice.variant and model and variants is not None and choice.variant not in variants:
            raise NotOffered(f"{one_line(model)} has no variant {one_line(choice.variant)}")
        self._keeper.choose(what, value)
        if what == "model":
            had = chat.selected.variant or ""
            choice = replace(choice, variant=had if had in self._of(choice.model) else "")
            if choice.variant != had:
                self._keeper.choose("variant", "")
        elif what == "agent" and self._brings_model(chat):
            choice = replace(choice, model="", variant="")
        self.keep(chat.id, choice)
        return choice

    def _brings_model(self, chat: Chat) -> bool:
        """Say whether an agent that is chosen now decides on the model of a chat."""
        has_own = "model" in self._own(chat.id)
        return self._bring_models and not has_own and not _was_prompted(chat)

    def keep(self, chat: str, selection: SelectionChanged) -> None:
        """Take what a chat goes on with: it is its own choice from now on."""
        told = {what for what in SELECTABLE if getattr(selection, what) is not None}
        self._chosen.setdefault(chat, set()).update(told)

    def forget(self, chat: str) -> None:
        """Forget what was chosen for a chat that is gone."""
        self._chosen.pop(chat, None)
        self._wishes.pop(chat, None)

    def defaults(self, chat: str) -> SelectionChanged:
        """Give the defaults where a chat has no choice of its own."""
        wishes = self._wishes.setdefault(chat, dict(self._keeper.choices))
        offered = self._offered(wishes)
        last = replace(
            self._defaults,
            model=offered.get("model", self._defaults.model),
            agent=offered.get("agent", self._defaults.agent),
            variant=offered.get("variant", self._defaults.variant),
        )
        return replace(last, **dict.fromkeys(self._own(chat)))

    def _own(self, chat: str) -> Set[str]:
        return self._chosen.get(chat, frozenset())

    def _of(self, model: str | None) -> Sequence[str]:
        return self._variants.get(model or "", ())

    def _offered(self, kept: Mapping[str, str]) -> Mapping[str, str]:
        """Give what was last chosen in this project, as far as it is offered."""
        model, agent, variant = (kept.get(what, "") for what in ("model", "agent", "variant"))
        last: dict[str, str] = {}
        if agent in self._offers.get("agents", ()):
            last["agent"] = agent
        if model in self._offers.get("models", ()):
            last["model"] = model
        elif last and self._bring_models and agent != self._defaults.agent:
            last |= {"model": "", "variant": ""}
        chosen = last.get("model", self._defaults.model)
        if variant in self._of(chosen) or (variant == "" and "variant" in kept):
            last["variant"] = variant
        elif chosen != self._defaults.model:
            last["variant"] = ""
        return last


def _was_prompted(chat: Chat) -> bool:
    return any(block.kind is BlockKind.USER for block in chat.root.blocks)


def announced(event: ChoicesChanged) -> SelectionChanged:
    """Give the selection in an announcement."""
    return SelectionChanged(event.model, event.agent, event.variant)


def _choice(what: str, value: object) -> SelectionChanged | None:
    match what, value:
        case "model", str():
            return SelectionChanged(model=value)
        case "agent", str():
            return SelectionChanged(agent=value)
        case "variant", str():
            return SelectionChanged(variant=value)
        case _:
            return None
