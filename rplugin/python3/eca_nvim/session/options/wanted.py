"""Wanted options: what is to be set in one chat, and what counts more than what.

After a restart of its agent, a value that would ask less than what the agent has set by itself is
offered to the user, not set.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Final, TypeAlias

from msgspec import Struct, field

from eca_nvim.chat.vocabulary.options import (
    TRUST,
    ChatOption,
    OptionKind,
    OptionRefused,
    OptionsChanged,
    OptionValue,
    find_option,
)

ON: Final = "on"
OFF: Final = "off"
"""The values of a toggle as a last choice."""

LastChoices: TypeAlias = Callable[[str], str | None]
"""Returns what was last set for an option, by its id; None if that is not known."""


class Why(Enum):
    """Why a value is to be set; what comes first counts more.

    ASKED: the user has just set it: only that is waited for, and kept as the last choice. SET: it
    was set before the agent was started again. RETURNED: it was set before the chat came back.
    CONFIGURED: the user's options say so. LAST: the project's last choice.
    """

    ASKED = auto()
    SET = auto()
    RETURNED = auto()
    CONFIGURED = auto()
    LAST = auto()


class Wanted(Struct, frozen=True):
    """A value to set once the agent lists the option."""

    value: OptionValue
    why: Why

    @property
    def asked(self) -> bool:
        """Whether the user waits for it."""
        return self.why is Why.ASKED


class WantedOptions(Struct):
    """What a chat waits for, by id or category of an option.

    last: the project's last choices when the chat began. chosen: ids of options set in the chat.
    unasked: values with which tools run without asking that the user has set, by id. is_listed: the
    running agent has listed the chat's options. is_loading: the chat is being opened with its text.
    by_user: what the user has set last, by id. is_back: the chat has come back. returned:
    what the user chose before; left: what it had last of the options that decide on asking.
    was_trusted: it was then. unconfirmed: values that were to be set and are not listed yet.
    setting: requests to set one that the agent has not answered. holds_prompt: a prompt stays
    queued because of one. offered: values from before that are not set by themselves. lines: what
    the user must know once the text of the chat is there, which replaces all that is shown.
    """

    is_listed: bool = False
    is_loading: bool = False
    last: LastChoices | None = None
    wanted: dict[str, Wanted] = field(default_factory=dict)
    chosen: set[str] = field(default_factory=set)
    unasked: dict[str, OptionValue] = field(default_factory=dict)
    by_user: dict[str, OptionValue] = field(default_factory=dict)
    is_back: bool = False
    returned: Mapping[str, OptionValue] = field(default_factory=dict)
    left: Mapping[str, OptionValue] = field(default_factory=dict)
    was_trusted: bool = False
    unconfirmed: dict[str, OptionValue] = field(default_factory=dict)
    setting: int = 0
    holds_prompt: bool = False
    offered: list[tuple[ChatOption, OptionValue]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def needs_list(self) -> bool:
        """Whether the user waits for a list that does not come with the text of the chat."""
        return not self.is_loading and any(it.asked for it in self.wanted.values())

    @property
    def in_chat(self) -> Mapping[str, OptionValue]:
        """What the user chose in the chat, here or before it came back."""
        return {**self.returned, **self.by_user}

    def begin(self, last: LastChoices, configured: Mapping[str, OptionValue]) -> None:
        """Want what a chat of the user gets, whenever it is opened."""
        self.last = last
        self.set_again(self.by_user)
        for why, values in ((Why.RETURNED, self.returned), (Why.CONFIGURED, configured)):
            for key, value in values.items():
                self.wanted.setdefault(key, Wanted(value, why))

    def returns(
        self, chosen: Mapping[str, OptionValue], left: Mapping[str, OptionValue], *, trusted: bool
    ) -> None:
        """Note what was set in a chat that comes back."""
        self.is_back, self.returned, self.left = True, chosen, left
        self.was_trusted = trusted

    def set_again(self, values: Mapping[str, OptionValue]) -> None:
        """Want values that were set since the chat was opened here."""
        for option_id, value in values.items():
            self.wanted.setdefault(option_id, Wanted(value, Why.SET))

    def take(self, option: ChatOption) -> Wanted | None:
        """Remove and return what an option waits for; what is quietly wanted waits for offers."""
        keys = [it for it in (option.id, option.category) if option.is_named(it)]
        asked = [it for key, it in self.wanted.items() if it.asked and key in keys]
        order = [*Why].index
        others = [self.wanted[key] for key in keys if key in self.wanted]
        others.sort(key=lambda it: order(it.why))
        wanted = next(iter([*reversed(asked), *others]), None) or self._unless_chosen(option)
        is_known = bool(option.offers) or option.kind is OptionKind.TOGGLE
        if wanted is None or not (wanted.asked or is_known):
            return None
        self.drop(option)
        self.chosen.add(option.id)
        return wanted

    def drop(self, option: ChatOption) -> None:
        """Forget what an option waits for, by its id and by its category."""
        self.wanted.pop(option.id, None)
        self.wanted.pop(option.category, None)

    def user_sets(self, option: ChatOption, value: OptionValue) -> None:
        """Note what the user sets."""
        if value in option.unasked:
            self.unasked[option.id] = value

    def is_restored(self, option: ChatOption) -> bool:
        """Return whether the value of an option is set again when the agent is started again."""
        return option.value not in option.unasked or self.unasked.get(option.id) == option.value

    def is_withheld(self, option: ChatOption, value: OptionValue, why: Why) -> bool:
        """Return whether a value from before is not set; it may be offered then.

        One that asks less is set again only if the user has set it as such: an agent that was
        started again may list another option by the same id.
        """
        if why is Why.SET:
            return value in option.unasked and self.unasked.get(option.id) != value
        if why is not Why.RETURNED:
            return False
        if option.unasked_by(value) > option.unasked_by(option.value):
            self.offered.append((option, value))
        return value == option.value or option.unasked_by(value) > option.unasked_by(option.value)

    def answered(
        self, event: OptionsChanged | OptionRefused, options: Sequence[ChatOption]
    ) -> None:
        """Note what the agent has answered and confirmed."""
        if isinstance(event, OptionRefused) or event.is_answer:
            self.setting = max(0, self.setting - 1)
        for option in options:
            if self.unconfirmed.get(option.id) == option.value:
                del self.unconfirmed[option.id]

    def objection(self, options: Sequence[ChatOption]) -> tuple[ChatOption, OptionValue] | None:
        """Return an option that asks less than what is to be set, and that value."""
        wanted = ((find_option(options, key), it) for key, it in self.unconfirmed.items())
        return next(((it, value) for it, value in wanted if it and it.asks_less_than(value)), None)

    def _unless_chosen(self, option: ChatOption) -> Wanted | None:
        """Return what an option gets that was not set in this chat yet."""
        if option.id in self.chosen or option.category == TRUST:
            return None
        left = self.left.get(option.id)
        if left is not None and option.asks_less_than(left):
            return Wanted(left, Why.RETURNED)
        last = None if self.last is None else self.last(option.id)
        if last is None:
            return None
        value = last == ON if option.kind is OptionKind.TOGGLE else last
        if self.is_back and not option.asks_less_than(value):
            return None
        return None if value in option.unasked else Wanted(value, Why.LAST)


def asking_values(options: Sequence[ChatOption]) -> Mapping[str, OptionValue]:
    """Return the values of the options that decide on asking, by id."""
    deciding = (it for it in options if (it.unasked or it.unsure) and it.value != "")
    return {option.id: option.value for option in deciding}
