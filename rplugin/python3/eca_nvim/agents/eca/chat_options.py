"""Chat options: what a chat can choose from, and what it uses: model, agent, variant and trust.

What was set for a chat stays, whatever defaults the server announces later. What the server selects
for one chat, or reports with an answer, is of that chat; what it selects for all is forced.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, TypeVar

from msgspec import UNSET, Struct, UnsetType, field

from eca_nvim.agents.eca.older.chat_ids import ChatIds
from eca_nvim.agents.eca.older.dialect import Dialect
from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.agents.eca.turns import Turns
from eca_nvim.chat.vocabulary import agent_events
from eca_nvim.chat.vocabulary.events import Addressed, NoticeReceived
from eca_nvim.chat.vocabulary.options import (
    MODE,
    MODEL,
    THOUGHT_LEVEL,
    TRUST,
    ChatOption,
    OptionKind,
    OptionOffer,
    OptionsChanged,
    OptionValue,
)
from eca_nvim.protocol.eca.chat import ChatConfig, ConfigUpdated

_T = TypeVar("_T")

NO_MODEL: Final = "no model: send the prompt /login, or see :Eca log"
NO_VARIANT: Final = OptionOffer("", "none")
SELECTABLE: Final = ("model", "agent", "variant")


class _Chat(Struct):
    """What was set or reported for a chat, by SELECTABLE; for the rest the defaults count."""

    own: dict[str, str] = field(default_factory=dict)
    trust: bool = False
    is_open: bool = False
    listed: Sequence[ChatOption] | None = None


class ChatOptions:
    """The options of the chats of one server process, by our ids."""

    def __init__(self, ids: ChatIds, turns: Turns, dialect: Dialect) -> None:
        self._ids = ids
        self._turns = turns
        self._dialect = dialect
        self._chats: defaultdict[str, _Chat] = defaultdict(_Chat)
        self._models: tuple[OptionOffer, ...] | None = None
        self._agents: tuple[OptionOffer, ...] | None = None
        self._variants: dict[str, tuple[str, ...]] = {}  # by model
        self._defaults: dict[str, str] = {}
        self._forced: set[str] = set()  # what the server has forced since its start
        self._overruled: set[str] = set()  # chats for which a model was forced after the prompt

    def open_chat(self, chat_id: str) -> Sequence[agent_events.AgentEvent]:
        """Return the options of a chat that exists from now on, or is shown again."""
        chat = self._chats[chat_id]
        # The first config/updated names none and the second some; one without a login has no more.
        lacks_models = self._models == () and not chat.is_open
        chat.is_open = True
        notices = [NoticeReceived(NO_MODEL, is_error=True)] if lacks_models else []
        return [self._list(chat_id, chat), *(Addressed(chat_id, notice) for notice in notices)]

    def forget(self, chat_id: str) -> None:
        """Forget a chat."""
        self._chats.pop(chat_id, None)

    def copy(self, chat_id: str, copy_id: str) -> None:
        """Let a copy of a chat have the same model, agent and variant."""
        self._chats[copy_id].own |= self._defaults | self._chats[chat_id].own

    def keep(
        self,
        chat_id: str,
        model: str | None = None,
        agent: str | None = None,
        variant: str | None = None,
    ) -> None:
        """Keep what a chat uses, whatever the defaults are; None is not known."""
        self._chats[chat_id].own |= _known(model=model, agent=agent, variant=variant)

    def selection(self, chat_id: str) -> Selection:
        """Return what the next prompt of a chat is sent with."""
        chat = self._chats[chat_id]
        chosen = self._defaults | chat.own
        model, agent, variant = (chosen.get(what, "") for what in SELECTABLE)
        return Selection(model, agent, variant, chat.trust)

    def set(
        self, chat_id: str, option_id: str, value: OptionValue
    ) -> Sequence[agent_events.AgentEvent]:
        """Set an option; returns the list that follows."""
        chat = self._chats[chat_id]
        if option_id == "trust":
            chat.trust = value is True
        elif option_id == "model":
            self._set_model(chat, str(value), self._selected(chat, "variant"))
        elif option_id in SELECTABLE:
            # An agent that is chosen before the first prompt brings its model.
            brings_model = option_id == "agent" and self._dialect.agents_bring_models
            if brings_model and not self.is_known(chat_id) and "model" not in chat.own:
                chat.own |= {"model": "", "variant": ""}
            chat.own[option_id] = str(value)
        return [self._list(chat_id, chat, is_answer=True)]

    def announce(self, update: ConfigUpdated) -> Sequence[agent_events.AgentEvent]:
        """Read config/updated; returns what follows from it.

        It is partial: what is missing or null stays, but no variant is one, too.
        """
        config, chat_id = update.chat or ChatConfig(), update.chat_id
        model = given(config.select_model, config.default_model)
        agent = given(config.select_agent, config.default_agent)
        variant = "" if config.select_variant is None else given(config.select_variant)
        self._read_offers(config, chat_id, model)
        said = _known(model=model, agent=agent, variant=variant)
        welcome, trust = given(config.welcome_message), given(config.select_trust)
        told: list[agent_events.AgentEvent] = [agent_events.Welcomed(welcome)] if welcome else []
        if chat_id is None:
            selected = {"model": given(config.select_model), "agent": given(config.select_agent)}
            self._force({what: name for what, name in selected.items() if name}, variant)
            self._defaults |= said
            told += [] if trust is None else [agent_events.TrustWanted(trust)]
        elif chat_id in self._chats:  # whose trust only repeats the user's choice
            self._chats[chat_id].own |= said
        return [*told, *self.changed()]

    def answered(self, chat_id: str, model: str | None) -> Sequence[agent_events.AgentEvent]:
        """Note the model that answers a prompt, unless another was forced since."""
        chat, is_overruled = self._chats[chat_id], chat_id in self._overruled
        self._overruled.discard(chat_id)
        if not model or is_overruled:
            return ()
        is_news = model != self._selected(chat, "model")
        chat.own["model"] = model
        return self.changed() if is_news else ()

    def changed(self) -> Sequence[agent_events.AgentEvent]:
        """Return the options that differ from those listed last."""
        return [
            self._list(chat_id, chat)
            for chat_id, chat in self._chats.items()
            if chat.is_open and chat.listed != self._options(chat)
        ]

    def is_known(self, chat_id: str) -> bool:
        """Return whether the server can know a chat: it loses what is chosen for another."""
        return self._ids.was_prompted(chat_id)

    def _selected(self, chat: _Chat, what: str) -> str:
        return chat.own.get(what, self._defaults.get(what, ""))

    def _read_offers(self, config: ChatConfig, chat_id: str | None, model: str | None) -> None:
        if (models := given(config.models)) is not None:
            self._models = _offers(models)
        if (agents := given(config.agents)) is not None:
            self._agents = _offers(agents)
        if (variants := given(config.variants)) is not None:
            chat = self._chats.get(chat_id or "", _Chat())
            self._variants[model or self._selected(chat, "model")] = variants

    def _force(self, forced: Mapping[str, str], variant: str | None) -> None:
        """Set what the server forces in the chats for which it is meant.

        While exactly one chat runs, its prompt must have caused it (`/model`). What is forced first
        are the server's defaults: they do not replace a choice still on offer.
        """
        again = self._forced & forced.keys()
        self._forced |= forced.keys()
        if "model" in forced:
            self._overruled.update(self._turns.unanswered)
        running = [it for it in self._chats if self._turns.is_running(it)]
        for chat_id in running if len(running) == 1 else self._chats:
            chat = self._chats[chat_id]
            for what, name in forced.items():
                if what in again or not self._is_offered(what, self._selected(chat, what)):
                    self._apply_forced(chat, what, name, variant)

    def _apply_forced(self, chat: _Chat, what: str, name: str, variant: str | None) -> None:
        if what != "model":
            chat.own[what] = name
            return
        self._set_model(chat, name, self._selected(chat, "variant"))
        if variant is not None:
            chat.own["variant"] = variant

    def _set_model(self, chat: _Chat, model: str, variant: str) -> None:
        """Set the model of a chat, which keeps its variant if the model has it."""
        chat.own["model"] = model
        chat.own["variant"] = variant if variant in self._variants.get(model, ()) else ""

    def _is_offered(self, what: str, name: str) -> bool:
        offers = self._models if what == "model" else self._agents
        return not name or any(offer.value == name for offer in offers or ())

    def _list(self, chat_id: str, chat: _Chat, *, is_answer: bool = False) -> Addressed:
        options = chat.listed = self._options(chat)
        return Addressed(chat_id, OptionsChanged(options, is_answer))

    def _options(self, chat: _Chat) -> tuple[ChatOption, ...]:
        model, agent, variant = (self._selected(chat, what) for what in SELECTABLE)
        models, agents, variants = self._models or (), self._agents or (), self._variants_for(model)
        options = (
            ChatOption("model", "model", category=MODEL, value=model, offers=models),
            ChatOption("agent", "agent", category=MODE, value=agent, offers=agents),
            ChatOption(
                "variant", "variant", category=THOUGHT_LEVEL, value=variant, offers=variants
            ),
        )
        if not self._dialect.has_trust:
            return options
        kind = OptionKind.TOGGLE
        return (*options, ChatOption("trust", "trust", category=TRUST, kind=kind, value=chat.trust))

    def _variants_for(self, model: str) -> tuple[OptionOffer, ...]:
        """Return the variants of a model; without a model those of all models."""
        if model and model not in self._variants:
            return ()
        names = self._variants[model] if model else sorted({*chain(*self._variants.values())})
        return (NO_VARIANT, *_offers(names)) if names or model else ()


def _known(**selected: str | None) -> Mapping[str, str]:
    return {what: name for what, name in selected.items() if name is not None}


def _offers(names: Iterable[str]) -> tuple[OptionOffer, ...]:
    return tuple(OptionOffer(name, name) for name in names)


def given(value: _T | UnsetType | None, otherwise: _T | UnsetType | None = UNSET) -> _T | None:
    """Return a value that may be missing, or another; None if that is missing, too."""
    found = otherwise if value is UNSET else value
    return None if found is UNSET else found
