"""Options: what the user can set in a chat, as its agent offers it, and what an agent can do.

Names are shown, values are sent.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from eca_nvim.chat.vocabulary import bases


class Ability(StrEnum):
    """Something that not every agent can do; Lua has the sentences for what is missing.

    FORK: copy a chat. FORK_HERE: up to a place in it. FOLDERS: get the files of a folder with a
    prompt, not only its name.
    """

    STEER = "steer"
    ROLLBACK = "rollback"
    FORK = "fork"
    FORK_HERE = "fork_here"
    FLAGS = "flags"
    CLEAR = "clear"
    RENAME = "rename"
    DELETE = "delete"
    LIST = "list"
    LOGIN = "login"
    LOGOUT = "logout"
    FOLDERS = "folders"


ALL_ABILITIES: Final = frozenset(Ability)
"""What is offered before an agent has said what it can do."""


class AbilitiesChanged(bases.AgentEvent, frozen=True):
    """An event: all that the agent can do, in every chat."""

    abilities: frozenset[Ability]


MODEL: Final = "model"
MODE: Final = "mode"
THOUGHT_LEVEL: Final = "thought_level"
TRUST: Final = "trust"
"""Categories that have commands of their own; an agent may have any other one, too."""
_CATEGORIES: Final = frozenset({MODEL, MODE, THOUGHT_LEVEL, TRUST})

OptionValue: TypeAlias = str | bool
"""Text for a select, a boolean for a toggle."""


class OptionKind(StrEnum):
    """How an option is set: one of its offers is selected, or it is switched on and off."""

    SELECT = "select"
    TOGGLE = "toggle"


class Unasked(IntEnum):
    """What runs without asking the user, the least first.

    UNKNOWN: it is not known whether something does. EDITS: changes of files in the workspace, and
    maybe what the agent takes for harmless.
    """

    NOTHING = 0
    UNKNOWN = 1
    EDITS = 2
    ALL = 3


class OptionOffer(Struct, frozen=True):
    """A value that an option can have; offers of the same `group` are listed together."""

    value: str
    name: str
    description: str = ""
    group: str = ""


class ChatOption(Struct, frozen=True):
    """An option of a chat; an empty value of a select is not known or not set.

    unasked: values with which the agent is known to run tools without asking, and which tools.
    unsure: values with which the agent may or may not ask: nobody knows.
    """

    id: str
    name: str
    description: str = ""
    category: str = ""
    kind: OptionKind = OptionKind.SELECT
    value: OptionValue = ""
    offers: tuple[OptionOffer, ...] = ()
    unasked: Mapping[OptionValue, Unasked] = field(default_factory=dict)
    unsure: frozenset[OptionValue] = frozenset()

    @property
    def runs_unasked(self) -> bool:
        """Whether tools run without asking because of the value that the option has."""
        return self.value in self.unasked

    def is_named(self, key: str) -> bool:
        """Return whether a key, an id or a category, means this option.

        The name of a category means that, and no option of another one that has it as its id.
        """
        if key == self.category:
            return True
        return key == self.id and not {key, self.category} <= _CATEGORIES

    def unasked_by(self, value: OptionValue) -> Unasked:
        """Return what would run without asking if the option had a value."""
        unlisted = Unasked.UNKNOWN if value in self.unsure else Unasked.NOTHING
        return self.unasked.get(value, unlisted)

    def asks_less_than(self, value: OptionValue) -> bool:
        """Return whether more runs without asking than with another value."""
        return self.unasked_by(self.value) > self.unasked_by(value)

    def accepts(self, value: OptionValue) -> bool:
        """Return whether the option can have a value, as far as its offers tell."""
        if self.kind is OptionKind.TOGGLE:
            return isinstance(value, bool)
        offered = not self.offers or any(offer.value == value for offer in self.offers)
        return isinstance(value, str) and offered

    def meant(self, value: OptionValue) -> OptionValue:
        """Return the value that the user means by a name, or by a part of only one name."""
        if self.accepts(value) or not isinstance(value, str):
            return value
        word = value.casefold()
        named = [offer.value for offer in self.offers if offer.name.casefold() == word]
        named = named or [it.value for it in self.offers if word in it.name.casefold()]
        return named[0] if len(named) == 1 else value

    def name_of(self, value: OptionValue) -> str:
        """Return what the user sees of a value."""
        if isinstance(value, bool):
            return "on" if value else "off"
        return next((offer.name for offer in self.offers if offer.value == value), value)


def plain_id(value: OptionValue) -> str:
    """Return an id as ids are compared: without case, `-` and `_`; of a URL the last part.

    Agents spell the same mode as `auto-edit`, `autoEdit` and `auto_edit`. A toggle is on or off.
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    return value.rpartition("#")[2].casefold().replace("-", "").replace("_", "")


def first_of(options: Sequence[ChatOption], category: str) -> ChatOption | None:
    """Return the first option of a category."""
    return next((option for option in options if option.category == category), None)


def find_option(options: Sequence[ChatOption], key: str) -> ChatOption | None:
    """Return the option with an id, else the first of a category."""
    named = [option for option in options if option.is_named(key)]
    return next((option for option in named if option.id == key), next(iter(named), None))


class OptionsChanged(bases.ChatEvent, frozen=True):
    """An event: all options of a chat, with their values (ACP: config_option_update).

    is_answer: the agent has answered a request to set one.
    """

    options: tuple[ChatOption, ...]
    is_answer: bool = False


class OptionRefused(bases.ChatEvent, frozen=True):
    """An event: the agent did not set an option, which keeps its value; `reason` is one line.

    It answers a request to set one.
    """

    option_id: str
    reason: str


class SetOptions(bases.ChatOp, frozen=True, tag="options"):
    """An op: all that the user can set in a chat, for the pickers.

    An option: id, name, description, command (the subcommand of `:Eca` that sets it), kind
    ('select' | 'toggle'), value (text or boolean), shown (the name of the value), offers (tables:
    value, name, description, group, unasked: tools run without asking, unsure: it is not known
    whether they do). Descriptions, groups and commands may be absent, and so are `unasked` and
    `unsure` if they are false.
    """

    options: Sequence[Mapping[str, Any]]
