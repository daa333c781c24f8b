"""Options: what the user can set in a session.

Rules kept here:
- Agents list options. Older ones list modes and models, which become two options; of an agent that
  lists options, its modes and models are the same again and are ignored.
- Ids say nothing, categories do. The exception is UNASKED: values with which agents are known to
  work without asking the user, so that he sees it from the first moment.
- What the agent does through us is asked about unless the user himself has set such a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

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
)
from eca_nvim.protocol.acp import options as acp

SetOption: TypeAlias = acp.SetConfigOption | acp.SetMode | acp.SetModel

UNASKED: Final[Mapping[str, frozenset[str]]] = {
    MODE: frozenset(
        {
            *("acceptedits", "auto", "bypasspermissions", "dontask"),  # claude
            *("auto", "autoedit", "yolo"),  # gemini, qwen
            *("agentfullaccess", "fullaccess", "workspacewrite"),  # codex
            *("acceptedits", "autoapprove"),  # vibe
            *("auto", "smartapprove"),  # goose
            "autopilot",  # copilot
        }
    ),
    "permissions": frozenset({"on"}),  # copilot: allow all
}
"""By category, the plain ids of values with which tools run without asking, at least some."""

ASKING: Final[frozenset[str]] = frozenset(
    {
        *("agent", "ask", "approve", "build", "chat", "default", "fastagent", "manual", "plan"),
        "readonly",
    }
)
"""The plain ids of the modes of known agents that ask, or that change nothing."""

_UNASKED_BESIDE: Final[Mapping[str, str]] = {"agent": "agentfullaccess"}
"""Ids that mean this only beside another one: codex has both, other agents have the first alone."""

_ALL_UNASKED: Final[frozenset[str]] = frozenset(
    {
        *("bypasspermissions", "dontask", "yolo", "agentfullaccess", "fullaccess"),
        *("autoapprove", "autopilot", "on"),
    }
)
"""Those with which everything runs, as with a toggle that is on; with others some things ask."""


class SessionOptions:
    """The options of a session, as the agent listed them last."""

    def __init__(self) -> None:
        self._options: tuple[ChatOption, ...] = ()
        self._has_list = False
        self._set_by_user: dict[str, OptionValue] = {}

    @property
    def unasked(self) -> Unasked:
        """What runs without asking because of values that the user has set."""
        set_by_user = self._set_by_user.items()
        unasked = (it.runs_unasked for it in self._options if (it.id, it.value) in set_by_user)
        return max(unasked, default=Unasked.NOTHING)

    def user_sets(self, option_id: str, value: OptionValue) -> None:
        """Note that the user sets an option."""
        self._set_by_user[option_id] = value

    def opened(
        self,
        listed: Sequence[acp.ConfigOption] | None,
        modes: acp.Modes | None,
        models: acp.Models | None,
    ) -> OptionsChanged:
        """Read what the answer that made the session lists, which may be nothing."""
        if listed:
            return self.listed(listed)
        if not self._has_list:  # else an update was quicker
            self._options = (*_of_modes(modes), *_of_models(models))
        return OptionsChanged(self._options)

    def listed(self, options: Iterable[acp.ConfigOption]) -> OptionsChanged:
        """Read the agent's list of all options."""
        self._has_list = True
        self._options = tuple(map(_option, options))
        return OptionsChanged(self._options)

    def listed_last(self) -> OptionsChanged:
        """Return the options as they are now."""
        return OptionsChanged(self._options)

    def mode_changed(self, mode: str) -> OptionsChanged:
        """Note which mode is set now; it may be one that was never listed."""
        found = next((it for it in self._options if it.category == MODE), None)
        if found is None:
            return self._with_value(_select(MODE, "Mode", MODE, mode, ()), mode)
        unasked = _unasked(MODE, [mode, *(it.value for it in found.offers)])
        return self._with_value(replace(found, unasked=unasked), mode)

    def text_may_set(self, mode: str) -> bool:
        """Return whether a text may say that a mode is set.

        The model writes texts: none of them ends the warning that tools run without asking.
        """
        found = next((it for it in self._options if it.category == MODE), None)
        return found is None or found.value not in found.unasked or mode in found.unasked

    def was_set(self, option_id: str, value: str | bool) -> OptionsChanged | None:
        """Note that the agent has set an option; None if it is not listed any more."""
        found = next((it for it in self._options if it.id == option_id), None)
        return None if found is None else self._with_value(found, value)

    def request(self, session_id: str, option_id: str, value: str | bool) -> SetOption | None:
        """Return the request that sets an option; None if there is no such option."""
        found = next((it for it in self._options if it.id == option_id), None)
        if found is None:
            return None
        if self._has_list:
            kind = acp.BOOLEAN if isinstance(value, bool) else None
            return acp.SetConfigOption(session_id, option_id, value, kind)
        if found.category == MODE:
            return acp.SetMode(session_id, str(value))
        return acp.SetModel(session_id, str(value))

    def _with_value(self, option: ChatOption, value: str | bool) -> OptionsChanged:
        changed = replace(option, value=value)
        is_listed = any(it.id == option.id for it in self._options)
        others = tuple(changed if it.id == option.id else it for it in self._options)
        self._options = others if is_listed else (*others, changed)
        return OptionsChanged(self._options)


def _option(option: acp.ConfigOption) -> ChatOption:
    if isinstance(option.current_value, bool) or option.type == acp.BOOLEAN:
        return ChatOption(
            id=option.id,
            name=option.name or option.id,
            description=option.description or "",
            category=option.category or "",
            kind=OptionKind.TOGGLE,
            value=option.current_value is True,
            unasked={True: Unasked.ALL} if "on" in UNASKED.get(option.category or "", ()) else {},
        )
    category, offers = option.category or "", tuple(_offers(option.options))
    shown = _select(option.id, option.name or option.id, category, option.current_value, offers)
    return replace(shown, description=option.description or "")


def _offers(offers: Iterable[acp.Offer]) -> Iterator[OptionOffer]:
    for offer in offers:
        if offer.options:
            group = offer.name or offer.group or ""
            yield from (_offer(it.value, it.name, it.description, group) for it in offer.options)
        elif offer.group is None:
            yield _offer(offer.value, offer.name, offer.description)


def _of_modes(modes: acp.Modes | None) -> Iterator[ChatOption]:
    if modes is not None:
        offers = tuple(_offer(it.id, it.name, it.description) for it in modes.available_modes)
        yield _select(MODE, "Mode", MODE, modes.current_mode_id, offers)


def _of_models(models: acp.Models | None) -> Iterator[ChatOption]:
    if models is not None:
        listed = models.available_models
        offers = tuple(_offer(it.model_id, it.name, it.description) for it in listed)
        yield _select(MODEL, "Model", MODEL, models.current_model_id, offers)


def _offer(value: str, name: str, description: str | None, group: str = "") -> OptionOffer:
    return OptionOffer(value, name or value, description or "", group)


def _select(
    option_id: str, name: str, category: str, value: str, offers: tuple[OptionOffer, ...]
) -> ChatOption:
    unasked = _unasked(category, [value, *(it.value for it in offers)])
    return ChatOption(
        option_id, name, category=category, value=value, offers=offers, unasked=unasked
    )


def _unasked(category: str, values: Sequence[str]) -> Mapping[OptionValue, Unasked]:
    """Return the values with which tools run unasked; of a URL its last part counts."""
    ids = {value: plain_id(value) for value in values}
    known, shorts = UNASKED.get(category, frozenset()), {*ids.values()}
    found: dict[OptionValue, Unasked] = {}
    for value, short in ids.items():
        beside = _UNASKED_BESIDE.get(short) if category == MODE else None
        if short in known or (beside is not None and beside in shorts):
            found[value] = Unasked.ALL if short in _ALL_UNASKED else Unasked.EDITS
    return found


def plain_id(value: str) -> str:
    """Return an id as ids are compared: without case, `-` and `_`; of a URL the last part.

    Agents spell the same mode as `auto-edit`, `autoEdit` and `auto_edit`.
    """
    return value.rpartition("#")[2].casefold().replace("-", "").replace("_", "")
