"""Options: what the user can set in a session, and which values let tools run unasked."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.vocabulary.options import (
    MODE,
    MODEL,
    ChatOption,
    OptionKind,
    OptionOffer,
    OptionsChanged,
    OptionValue,
    Unasked,
    first_of,
    plain_id,
)
from eca_nvim.protocol.acp import options as acp
from eca_nvim.protocol.acp.sessions import OpenedSession

SetOption: TypeAlias = acp.SetConfigOption | acp.SetMode | acp.SetModel

_MODES: Final[Mapping[str, Unasked]] = {
    "default": Unasked.NOTHING,  # claude, gemini, qwen
    "plan": Unasked.NOTHING,  # claude, gemini, qwen, copilot
    "readonly": Unasked.NOTHING,  # codex
    "agent": Unasked.NOTHING,  # copilot, fast-agent
    "ask": Unasked.NOTHING,  # vibe
    "approve": Unasked.NOTHING,  # goose
    "chat": Unasked.NOTHING,  # goose
    "acceptedits": Unasked.EDITS,  # claude, vibe
    "auto": Unasked.EDITS,  # claude, gemini, qwen
    "autoedit": Unasked.EDITS,  # gemini, qwen
    "workspacewrite": Unasked.EDITS,  # codex
    "smartapprove": Unasked.EDITS,  # goose
    "build": Unasked.EDITS,  # opencode, unless its own settings say that it asks
    "bypasspermissions": Unasked.ALL,  # claude
    "dontask": Unasked.ALL,  # claude
    "yolo": Unasked.ALL,  # gemini, qwen
    "agentfullaccess": Unasked.ALL,  # codex
    "fullaccess": Unasked.ALL,  # codex
    "autoapprove": Unasked.ALL,  # vibe
    "autopilot": Unasked.ALL,  # copilot
}
"""What runs unasked in a mode, by its plain id: the user sees it from the first moment.

In a mode that asks, or changes nothing, it is nothing; no other mode promises that.
"""

_MODES_BESIDE: Final[Mapping[tuple[str, str], Unasked]] = {
    ("agent", "agentfullaccess"): Unasked.EDITS,  # codex
    ("plan", "build"): Unasked.EDITS,  # opencode runs commands there, unless its settings say else
    ("auto", "smartapprove"): Unasked.ALL,  # goose
}
"""Ids that mean this only beside another one: other agents have the first alone."""

_OTHERS: Final[Mapping[str, Mapping[str, Unasked]]] = {
    "permissions allowall": {"on": Unasked.ALL, "off": Unasked.NOTHING},  # copilot
}
"""The same of options that are no modes, by their category and id."""

BESIDE: Final[frozenset[str]] = frozenset(
    {*("", "model", "model_config", "thought_level", "thinking"), "collaboration_mode"}
)
"""Categories that decide nothing of what is asked; an option may have none."""


class _Chosen(Struct, frozen=True):
    """A value that the user sets; option: as it was listed then."""

    option: ChatOption
    value: OptionValue
    is_confirmed: bool = False

    def is_still(self, option: ChatOption) -> bool:
        """Return whether an option is listed as the user saw it, with the value if it was set."""
        if self.is_confirmed and option.value != self.value:
            return False
        return self._seen(option) == self._seen(self.option)

    def _seen(self, it: ChatOption) -> tuple[object, ...]:
        named = it.name_of(self.value)
        return (it.name, it.category, it.kind, named, it.unasked_by(self.value))


class SessionOptions:
    """The options of a session, as the agent listed them last."""

    def __init__(self) -> None:
        self._options: tuple[ChatOption, ...] = ()
        self._has_list = False
        self._chosen: dict[str, _Chosen] = {}

    @property
    def changed(self) -> OptionsChanged:
        """The options as they are now."""
        return OptionsChanged(self._options)

    @property
    def unasked(self) -> Unasked:
        """What runs without asking because of values that the user has set.

        Nothing else keeps us from asking before we do something for the agent. A value counts as
        the user saw it: once the agent has confirmed it, and until it lists the option with another
        value, name or meaning.
        """
        confirmed = (it for it in self._chosen.values() if it.is_confirmed)
        return max((it.option.unasked_by(it.value) for it in confirmed), default=Unasked.NOTHING)

    def user_sets(self, option_id: str, value: OptionValue) -> None:
        """Note that the user sets an option that is listed."""
        if (found := self._find(option_id)) is not None:
            self._chosen[option_id] = _Chosen(found, value)

    def refused(self, option_id: str) -> None:
        """Note that the agent has not set an option."""
        self._chosen.pop(option_id, None)

    def _review_choices(self) -> None:
        """Forget what the user has set where the agent lists something else now."""
        for option_id, chosen in tuple(self._chosen.items()):
            option = self._find(option_id)
            if option is None or not chosen.is_still(option):
                del self._chosen[option_id]

    def opened(self, made: OpenedSession) -> OptionsChanged:
        """Read what the answer that made the session lists, which may be nothing.

        Older agents list modes and models, which become two options. Of an agent that lists options
        they are the same again.
        """
        if made.config_options:
            return self.listed(made.config_options)
        if not self._has_list:  # else an update was quicker
            self._options = tuple(_of_older(made))
            self._review_choices()
        return self.changed

    def listed(self, options: Iterable[acp.ConfigOption]) -> OptionsChanged:
        """Read the agent's list of all options."""
        self._has_list = True
        self._options = tuple(map(_option, options))
        self._review_choices()
        return self.changed

    def mode_changed(self, mode: str) -> OptionsChanged:
        """Note which mode is set now; it may be one that was never listed."""
        found = first_of(self._options, MODE) or ChatOption(MODE, "Mode", category=MODE)
        return self._with_value(_known(replace(found, value=mode)), mode)

    def text_may_set(self, mode: str) -> bool:
        """Return whether a text may say that a mode is set.

        The model writes texts: none of them ends the warning that tools run without asking.
        """
        found = first_of(self._options, MODE)
        return found is None or found.value not in found.unasked or mode in found.unasked

    def was_set(
        self, option_id: str, value: OptionValue, listed: Iterable[acp.ConfigOption] | None
    ) -> OptionsChanged | None:
        """Note that the agent has set an option; None if it is not listed any more.

        listed: all options as they are now, if the agent says so.
        """
        if listed is not None:
            changed: OptionsChanged | None = self.listed(listed)
        else:
            found = self._find(option_id)
            changed = None if found is None else self._with_value(found, value)
        chosen = self._chosen.get(option_id)
        if chosen is not None and chosen.value == value:
            self._chosen[option_id] = replace(chosen, is_confirmed=True)
            self._review_choices()
        return changed

    def request(self, session_id: str, option_id: str, value: str | bool) -> SetOption | None:
        """Return the request that sets an option; None if there is no such option."""
        found = self._find(option_id)
        if found is None:
            return None
        if self._has_list:
            kind = acp.BOOLEAN if isinstance(value, bool) else None
            return acp.SetConfigOption(session_id, option_id, value, kind)
        if found.category == MODE:
            return acp.SetMode(session_id, str(value))
        return acp.SetModel(session_id, str(value))

    def _find(self, option_id: str) -> ChatOption | None:
        return next((it for it in self._options if it.id == option_id), None)

    def _with_value(self, option: ChatOption, value: str | bool) -> OptionsChanged:
        changed = replace(option, value=value)
        others = tuple(changed if it.id == option.id else it for it in self._options)
        self._options = others if changed in others else (*others, changed)
        self._review_choices()
        return self.changed


def _option(option: acp.ConfigOption) -> ChatOption:
    is_toggle = isinstance(option.current_value, bool) or option.type == acp.BOOLEAN
    read = ChatOption(
        id=option.id,
        name=option.name or option.id,
        description=option.description or "",
        category=option.category or "",
        kind=OptionKind.TOGGLE if is_toggle else OptionKind.SELECT,
        value=option.current_value is True if is_toggle else option.current_value,
        offers=() if is_toggle else tuple(_offers(option.options)),
    )
    return _known(read)


def _offers(offers: Iterable[acp.Offer]) -> Iterator[OptionOffer]:
    for offer in offers:
        if offer.options:
            group = offer.name or offer.group or ""
            yield from (_offer(it.value, it.name, it.description, group) for it in offer.options)
        elif offer.group is None:
            yield _offer(offer.value, offer.name, offer.description)


def _of_older(made: OpenedSession) -> Iterator[ChatOption]:
    """Yield the modes and the models of an older agent as options."""
    if (modes := made.modes) is not None:
        offers = tuple(_offer(it.id, it.name, it.description) for it in modes.available_modes)
        mode = ChatOption(MODE, "Mode", category=MODE, value=modes.current_mode_id, offers=offers)
        yield _known(mode)
    if (models := made.models) is not None:
        listed = models.available_models
        offers = tuple(_offer(it.model_id, it.name, it.description) for it in listed)
        value = models.current_model_id
        yield _known(ChatOption(MODEL, "Model", category=MODEL, value=value, offers=offers))


def _offer(value: str, name: str, description: str | None, group: str = "") -> OptionOffer:
    return OptionOffer(value, name or value, description or "", group)


def _known(option: ChatOption) -> ChatOption:
    """Return an option with what is known of its values: which of them do not ask, or may not."""
    is_toggle, is_mode = option.kind is OptionKind.TOGGLE, option.category == MODE
    listed = [option.value, *(it.value for it in option.offers)]
    known = _OTHERS.get(f"{option.category} {plain_id(option.id)}", {})
    levels = _levels(_MODES if is_mode else known, (True, False) if is_toggle else listed)
    unsure = (value for value, level in levels.items() if level is None and value != "")
    return replace(
        option,
        unasked={value: level for value, level in levels.items() if level},
        unsure=frozenset(() if option.category in BESIDE else unsure),
    )


def _levels(
    known: Mapping[str, Unasked], values: Iterable[OptionValue]
) -> Mapping[OptionValue, Unasked | None]:
    """Return what runs unasked with each value; None: nobody knows."""
    ids = {value: plain_id(value) for value in values}
    listed = {*ids.values()}
    beside = {it: level for (it, other), level in _MODES_BESIDE.items() if other in listed}
    known = {**known, **(beside if known is _MODES else {})}
    return {value: known.get(short) for value, short in ids.items()}
