"""Choices: the models, agents and variants on offer, and which of them a chat uses.

Rules kept here:
- A user's choice for a chat stays, whatever defaults the agent announces later.
- A selection that the agent announces for one chat, or reports with an answer, is of that chat.
- A selection that the agent forces (ECA: selectModel, selectAgent) is for all chats. While exactly
  one chat runs, its prompt must have caused it (`/model`), so it is for that chat only. The first
  one after the agent's start states its defaults: it does not replace a choice still on offer.
- The project's last choice for this server comes before the agent's defaults, if it is on offer.
- A variant belongs to a model; one that the model does not have is refused.
- Choosing an agent for a new chat without a chosen model leaves the model to that agent: it is
  unknown until the first answer. Behaviors, the agents of older servers, bring no model: the chosen
  or default model stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain

from msgspec.structs import replace

from eca_nvim.agents.base import Selection
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.agent_events import ChoicesChanged
from eca_nvim.chat.vocabulary.events import SelectionChanged
from eca_nvim.chat.vocabulary.ops import BlockKind, SetChoices
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.session.persistence import Persistence

SELECTABLE = ("model", "agent", "variant")
LONGEST_NAME = 100
"""Characters of an unknown name that are compared with the names on offer."""


class NotOffered(Exception):
    """Raised when a choice cannot be made; the text tells the user why."""


def selection(chat: Chat) -> Selection:
    """Return the model, agent, variant and trust of a chat."""
    selected = chat.selected
    return Selection(selected.model, selected.agent, selected.variant, selected.trust)


class Choices:
    """The agent's offers and defaults, and what was chosen for each chat."""

    def __init__(self, server: str, persistence: Persistence) -> None:
        self._server = server
        self._persistence = persistence
        self._offers: dict[str, Sequence[str]] = {}
        self._variants: dict[str, Sequence[str]] = {}  # by model
        self._defaults = SelectionChanged()
        self._chosen: dict[str, set[str]] = {}  # by chat: which of SELECTABLE no default changes
        self._forced: set[str] = set()  # what the agent has forced since it started
        self._last_choices: dict[str, Mapping[str, str]] = {}  # the project's, when a chat began
        self._bring_models = True
        self.welcome: str | None = None

    @property
    def lack_models(self) -> bool:
        """Whether the agent announced an empty list of models; no list at all may mean some."""
        return self._offers.get("models") == ()

    def announce(self, event: ChoicesChanged, chat: Chat | None = None) -> SetChoices:
        """Record an announcement for all chats or for one; returns all offers."""
        offers = {"models": event.models, "agents": event.agents}
        self._offers |= {key: value for key, value in offers.items() if value is not None}
        if event.chat_id is None:
            announced = {key: getattr(event, key) for key in SELECTABLE}
            known = {key: value for key, value in announced.items() if value is not None}
            self._defaults = replace(self._defaults, **known)
        elif chat is not None:
            self.keep(chat.id, announced_selection(event))
        if event.variants is not None:
            model = event.model or (chat.selected.model if chat else self._defaults.model)
            self._variants[model or ""] = event.variants
        if event.agents is not None:
            self._bring_models = event.bring_models
        self.welcome = event.welcome or self.welcome
        return SetChoices({**self._offers, "variants": dict(self._variants)}, self._server)

    def force(
        self, event: ChoicesChanged, chats: Sequence[Chat]
    ) -> Iterator[tuple[Chat, SelectionChanged]]:
        """Return the chats that must change because of a forced selection, each with its change."""
        again = self._forced & {*event.forced}
        self._forced.update(event.forced)
        running = [chat for chat in chats if chat.turn.state is not Turn.IDLE]
        for chat in running if len(running) == 1 else chats:
            changed = {
                what: getattr(event, what)
                for what in event.forced
                if what in again or not self._is_offered(what, getattr(chat.selected, what))
            }
            if changed:
                yield chat, self._apply_forced(chat, SelectionChanged(**changed), event.variant)

    def _apply_forced(
        self, chat: Chat, choice: SelectionChanged, variant: str | None
    ) -> SelectionChanged:
        if choice.model is not None:
            old = chat.selected.variant or ""
            kept = old if old in self._variants_of(choice.model) else ""
            choice = replace(choice, variant=kept if variant is None else variant)
        self.keep(chat.id, choice)
        return choice

    def _is_offered(self, what: str, name: str | None) -> bool:
        return not name or name in self._offers.get(f"{what}s", ())

    def agent_ended(self) -> None:
        """Forget what the agent has forced: what the next one forces first are its defaults."""
        self._forced.clear()

    def offers(self, what: str) -> Sequence[str]:
        """Return the models or agents on offer, none if they are not known yet."""
        return self._offers.get(f"{what}s", ())

    def choose(
        self, chat: Chat, what: str, value: object, *, is_saved: bool = True
    ) -> SelectionChanged:
        """Record a user's choice; returns what changes with it. Raises NotOffered.

        is_saved: it is also for later chats of the project.
        """
        choice = _choice(what, value)
        if choice is None:
            raise NotOffered(f"invalid {what}: {value!r}")
        _require_offered(what, str(value), self._offers_for(what, chat))
        model, variants = chat.selected.model, self._variants.get(chat.selected.model or "")
        if choice.variant and model and variants is not None and choice.variant not in variants:
            raise NotOffered(f"{one_line(model)} has no variant {one_line(choice.variant)}")
        if is_saved:
            self._persistence.keep_choice(self._server, what, value)
        if what == "model":
            old = chat.selected.variant or ""
            choice = replace(choice, variant=old if old in self._variants_of(choice.model) else "")
            if choice.variant != old:
                self._persistence.keep_choice(self._server, "variant", "")
        elif what == "agent" and self._agent_sets_model(chat):
            choice = replace(choice, model="", variant="")
        self.keep(chat.id, choice)
        return choice

    def _offers_for(self, what: str, chat: Chat) -> Sequence[str]:
        """Return what a chat may choose from; without a model the variants of all models."""
        if what != "variant":
            return self._offers.get(f"{what}s", ())
        model = chat.selected.model
        return self._variants_of(model) if model else [*chain(*self._variants.values())]

    def _agent_sets_model(self, chat: Chat) -> bool:
        """Return whether an agent that is chosen now decides on the model of a chat."""
        has_own = "model" in self._chosen_for(chat.id)
        return self._bring_models and not has_own and not _was_prompted(chat)

    def keep(self, chat: str, selection: SelectionChanged) -> None:
        """Protect a chat's selection from later defaults."""
        selected = {what for what in SELECTABLE if getattr(selection, what) is not None}
        self._chosen.setdefault(chat, set()).update(selected)

    def forget(self, chat: str) -> None:
        """Forget what was chosen for a chat that was removed."""
        self._chosen.pop(chat, None)
        self._last_choices.pop(chat, None)

    def defaults(self, chat: str) -> SelectionChanged:
        """Return the defaults for what was not chosen for a chat."""
        last_choices = self._last_choices.setdefault(chat, self._persistence.choices(self._server))
        offered = self._still_offered(last_choices)
        last = replace(
            self._defaults,
            model=offered.get("model", self._defaults.model),
            agent=offered.get("agent", self._defaults.agent),
            variant=offered.get("variant", self._defaults.variant),
        )
        return replace(last, **dict.fromkeys(self._chosen_for(chat)))

    def _chosen_for(self, chat: str) -> Set[str]:
        return self._chosen.get(chat, frozenset())

    def _variants_of(self, model: str | None) -> Sequence[str]:
        return self._variants.get(model or "", ())

    def _still_offered(self, saved: Mapping[str, str]) -> Mapping[str, str]:
        """Return those of the project's last choices that are still on offer."""
        model, agent, variant = (saved.get(what, "") for what in ("model", "agent", "variant"))
        last: dict[str, str] = {}
        if agent in self._offers.get("agents", ()):
            last["agent"] = agent
        if model in self._offers.get("models", ()):
            last["model"] = model
        elif last and self._bring_models and agent != self._defaults.agent:
            last |= {"model": "", "variant": ""}
        chosen = last.get("model", self._defaults.model)
        if variant in self._variants_of(chosen) or (variant == "" and "variant" in saved):
            last["variant"] = variant
        elif chosen != self._defaults.model:
            last["variant"] = ""
        return last


def _require_offered(what: str, name: str, offers: Sequence[str]) -> None:
    """Raise NotOffered unless a name is on offer; the agent may not have announced any yet."""
    if not name or not offers or name in offers:
        return
    from difflib import get_close_matches  # noqa: PLC0415 - not needed at start

    near = get_close_matches(name[:LONGEST_NAME], offers, n=1)
    hint = f"; did you mean {one_line(near[0])}?" if near else ""
    raise NotOffered(f"unknown {what} '{one_line(name)}'{hint}")


def _was_prompted(chat: Chat) -> bool:
    return any(block.kind is BlockKind.USER for block in chat.root.blocks)


def announced_selection(event: ChoicesChanged) -> SelectionChanged:
    """Return the selection in an announcement."""
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
