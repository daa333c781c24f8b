"""Options: what the user sets in the chats of a server, and what the project set there last.

Rules kept here:
- The agent lists the options of a chat. What is set is sent to it, and shown once it lists that.
- What the user sets before there is a list waits for the first list, which the agent is asked for.
  What was set in a chat is set again after the agent has been started again; a value with which
  tools run without asking only if the user has set it: the agent takes it for his choice.
- A chat that the user begins gets what the option `servers.NAME.options` says, else the project's
  last choices for this server, as far as they are on offer. Trust is none of them, nor is a value
  with which tools run without asking a last choice.
- Values are sent one at a time: each may change what else is on offer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, auto

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.archive import AgentRefused
from eca_nvim.agents.base import Agent
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.options import COMMANDS, commands_of
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.events import NoticeReceived
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.options import (
    TRUST,
    ChatOption,
    OptionKind,
    OptionRefused,
    OptionsChanged,
    OptionValue,
    find_option,
    first_of,
)
from eca_nvim.session.chats import Chats
from eca_nvim.session.persistence import ON, LastChoices, Persistence
from eca_nvim.session.view import View

LONGEST_NAME = 100
"""Characters of an unknown name that are compared with the names on offer."""


_TOGGLE = OptionKind.TOGGLE


class NotOffered(Exception):
    """Raised when an option cannot be set; the text tells the user why."""


class _Why(Enum):
    """Why a value is to be set: the user has just set it, his options say so, or it was set before.

    Only what he asks for is waited for, and kept as the last choice.
    """

    ASKED = auto()
    CONFIGURED = auto()
    KEPT = auto()


class _Wanted(Struct, frozen=True):
    """A value to set once the agent lists the option."""

    value: OptionValue
    why: _Why = _Why.KEPT

    @property
    def asked(self) -> bool:
        """Whether the user waits for it."""
        return self.why is _Why.ASKED


class _State(Struct):
    """What a chat waits for, by id or category of an option.

    last: the project's last choices when the chat began. chosen: ids of options set in the chat.
    unasked: values with which tools run without asking that the user has set, by id. is_listed: the
    running agent has listed the chat's options. is_loading: the chat is being opened with its text.
    by_user: what the user has set last, by id.
    """

    is_listed: bool = False
    is_loading: bool = False
    last: LastChoices | None = None
    wanted: dict[str, _Wanted] = field(default_factory=dict)
    chosen: set[str] = field(default_factory=set)
    unasked: dict[str, OptionValue] = field(default_factory=dict)
    by_user: dict[str, OptionValue] = field(default_factory=dict)

    @property
    def needs_list(self) -> bool:
        """Whether the user waits for a list that does not come with the text of the chat."""
        return not self.is_loading and any(it.asked for it in self.wanted.values())

    def take(self, option: ChatOption) -> _Wanted | None:
        """Remove and return what an option waits for; what is quietly wanted waits for offers."""
        keys = (option.id, option.category)
        asked = [it for key, it in self.wanted.items() if it.asked and key in keys]
        others = (self.wanted[key] for key in keys if key in self.wanted)
        wanted = asked[-1] if asked else next(others, None) or self._last(option)
        if wanted is None or not (wanted.asked or option.offers or option.kind is _TOGGLE):
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

    def _last(self, option: ChatOption) -> _Wanted | None:
        last = None if self.last is None or option.id in self.chosen else self.last(option.id)
        if last is None or option.category == TRUST:
            return None
        value = last == ON if option.kind is _TOGGLE else last
        return None if value in option.unasked else _Wanted(value)


class Options:
    """What was set in the chats of a server, by the server's name."""

    def __init__(
        self,
        server: str,
        chats: Chats,
        persistence: Persistence,
        view: View,
        agent: Callable[[], Agent | None],
        configured: Callable[[], Mapping[str, OptionValue]],
    ) -> None:
        self._server = server
        self._configured = configured
        self._chats = chats
        self._persistence = persistence
        self._view = view
        self._agent = agent
        self._states: dict[str, _State] = {}

    def begin(self, chat: Chat) -> None:
        """Prepare a chat that the user has begun."""
        state = self._state(chat)
        state.last = self._persistence.choices(self._server)
        for key, value in self._configured().items():
            state.wanted.setdefault(key, _Wanted(value, _Why.CONFIGURED))
        self.open_chat(chat)

    @contextmanager
    def kept_as_used(self, chat_id: str) -> Iterator[None]:
        """Set nothing in a chat that is opened again, as in a new one, unless that is refused.

        What the user has set in it before is set again: the agent may have gone back to its own.
        """
        state = self._states.setdefault(chat_id, _State())
        last, state.last = state.last, None
        configured = {key: it for key, it in state.wanted.items() if it.why is _Why.CONFIGURED}
        for key in configured:
            del state.wanted[key]
        try:
            yield
        except AgentRefused:
            state.last, state.wanted = last, configured | state.wanted
            raise
        for option_id, value in state.by_user.items():
            state.wanted.setdefault(option_id, _Wanted(value))

    @contextmanager
    def loading(self, chat_id: str) -> Iterator[None]:
        """Note that a chat is being opened with its text: no choice opens it without."""
        state = self._states.setdefault(chat_id, _State())
        state.is_loading = True
        try:
            yield
        finally:
            state.is_loading = False
            if state.needs_list and self._states.get(chat_id) is state:
                self.open_chat(self._chats.table[chat_id])

    def open_chat(self, chat: Chat) -> None:
        """Ask the agent for the options of a chat; one that is not ready is asked later."""
        if (agent := self._agent()) is not None:
            agent.open_chat(chat.id, is_needed=self._state(chat).needs_list)

    def forget(self, chat: Chat) -> None:
        """Forget a chat that is no longer one of this server."""
        self._states.pop(chat.id, None)
        chat.asked_options.clear()
        if (agent := self._agent()) is not None:
            agent.forget(chat.id)

    def agent_ended(self) -> None:
        """Note what the next agent must set again in each chat."""
        for chat in self._chats.of(self._server):
            state = self._state(chat)
            state.is_listed = False
            for option_id, value in chat.asked_options.items():
                state.wanted.setdefault(option_id, _Wanted(value, _Why.ASKED))  # else set since
            chat.asked_options.clear()
            for option in chat.options:
                is_own = option.id in state.chosen or not chat.is_blank
                is_own = is_own and state.is_restored(option)
                if is_own and option.value and option.category != TRUST:
                    state.wanted.setdefault(option.id, _Wanted(option.value))
            if chat.trust:
                state.wanted[TRUST] = _Wanted(value=True)

    def set(self, chat: Chat, key: str, value: object, *, is_saved: bool = True) -> None:
        """Set the option with an id or of a category, as the user chose. Raises NotOffered.

        value: a value, or what names one: the view may not have the list yet. is_saved: it is also
        for later chats of the project.
        """
        option = find_option(chat.options, key)
        category = key if option is None else option.category
        if not isinstance(value, str | bool) or category == TRUST:
            raise NotOffered(f"invalid {one_line(key)}: {value!r}")
        if option is not None:
            value = option.meant(value)
            _require_offered(option, value)
        agent = self._agent()
        if agent is None or not self._state(chat).is_listed:
            option = option or ChatOption(key, key, category=key)
            self._set_later(chat, option, value, is_saved=is_saved)
            self.open_chat(chat)
        elif option is None:
            raise NotOffered(_no_option(key))
        else:
            self._send(agent, chat, option, value, is_saved=is_saved)

    def tell_trust(self, chat: Chat) -> None:
        """Tell the agent whether a chat is trusted, if it has an option for that."""
        state = self._state(chat)
        state.wanted.pop(TRUST, None)
        agent, option = self._agent(), first_of(chat.options, TRUST)
        if agent is not None and option is not None and state.is_listed:
            agent.set_option(chat.id, option.id, chat.trust)
        else:
            state.wanted[TRUST] = _Wanted(chat.trust)

    def apply(self, chat: Chat, event: OptionsChanged | OptionRefused) -> None:
        """Apply an event about the options of a chat, then set what waits for it."""
        asked = dict(chat.asked_options)
        before = {option.id: option.value for option in chat.options}
        self._chats.apply(chat, [event])
        done = {it.id for it in chat.options if it.id in asked and it.value == asked[it.id]}
        for option, command in zip(chat.options, commands_of(chat.options), strict=True):
            if done and (option.id in done or option.value != before.get(option.id)):
                self._keep_last(option, option.value)
            if option.id in done and command is None:  # else the winbar shows it
                line = f"{option.name}: {option.name_of(option.value)}"
                self._view.push([Notify("info", one_line(line))])
        agent, state = self._agent(), self._state(chat)
        state.is_listed = agent is not None and (
            state.is_listed or isinstance(event, OptionsChanged)
        )
        if agent is not None and state.is_listed:
            self._set_wanted(agent, chat)

    def _state(self, chat: Chat) -> _State:
        return self._states.setdefault(chat.id, _State())

    def _set_later(
        self, chat: Chat, option: ChatOption, value: OptionValue, *, is_saved: bool
    ) -> None:
        """Show a value that the agent gets when it is ready."""
        why = _Why.ASKED if is_saved else _Why.KEPT
        wanted = self._state(chat).wanted
        wanted.pop(option.id, None)  # the last one counts (`_State.take`)
        wanted[option.id] = _Wanted(value, why)
        options = chat.options if option in chat.options else (*chat.options, option)
        shown = [replace(it, value=value) if it is option else it for it in options]
        self._chats.apply(chat, [OptionsChanged(tuple(shown))])

    def _send(
        self, agent: Agent, chat: Chat, option: ChatOption, value: OptionValue, *, is_saved: bool
    ) -> None:
        state = self._state(chat)
        state.drop(option)
        state.chosen.add(option.id)
        state.user_sets(option, value)
        if is_saved:
            chat.asked_options[option.id] = state.by_user[option.id] = value
        agent.set_option(chat.id, option.id, value)

    def _set_wanted(self, agent: Agent, chat: Chat) -> None:
        """Set the first value that waits; the list that follows may bring the next."""
        state = self._state(chat)
        for option in chat.options:
            wanted = state.take(option)
            if wanted is None:
                continue
            value = option.meant(wanted.value)  # without the list the user can only name it
            is_set = value == option.value and value not in option.unasked
            if is_set and wanted.why is _Why.CONFIGURED:
                continue
            if option.accepts(value) and not _is_trust(option, wanted):
                if wanted.asked:
                    chat.asked_options[option.id] = state.by_user[option.id] = value
                if wanted.why is not _Why.KEPT:
                    state.user_sets(option, value)
                agent.set_option(chat.id, option.id, value)
                return
            if wanted.asked:
                self._complain(chat, _not_set(option, wanted.value))
            elif wanted.why is _Why.CONFIGURED:
                self._complain(chat, self._not_configured(option, wanted))
        self._give_up(chat, state)

    def _give_up(self, chat: Chat, state: _State) -> None:
        """Name the options that the agent does not have; the user's own ones may come later."""
        for key, wanted in tuple(state.wanted.items()):
            if wanted.asked:
                del state.wanted[key]
                self._complain(chat, _no_option(key))
            elif wanted.why is _Why.CONFIGURED and find_option(chat.options, key) is None:
                state.wanted[key] = _Wanted(wanted.value)
                line = f"servers.{self._server}.options.{key} is not set: {_no_option(key)}"
                self._complain(chat, one_line(line))

    def _not_configured(self, option: ChatOption, wanted: _Wanted) -> str:
        if _is_trust(option, wanted):
            return f"servers.{self._server}.options does not set trust: :Eca trust does"
        return f"servers.{self._server}.options: {_not_set(option, wanted.value)}"

    def _complain(self, chat: Chat, line: str) -> None:
        self._chats.apply(chat, [NoticeReceived(line, is_error=True)])

    def _keep_last(self, option: ChatOption, value: OptionValue) -> None:
        if option.accepts(value) and value not in option.unasked and option.category != TRUST:
            self._persistence.keep_choice(self._server, option.id, value)


def _is_trust(option: ChatOption, wanted: _Wanted) -> bool:
    """Return whether the options want to switch trust, which the user does in each chat."""
    return option.category == TRUST and wanted.why is _Why.CONFIGURED


def _no_option(key: str) -> str:
    return f"this server has no {one_line(COMMANDS.get(key, key))} to choose"


def _not_set(option: ChatOption, value: OptionValue) -> str:
    shown = f"{option.name} is {option.name_of(option.value)}" if option.value else option.name
    return one_line(f"{shown}: the server does not offer {value}")


def _require_offered(option: ChatOption, value: OptionValue) -> None:
    """Raise NotOffered unless an option accepts a value."""
    if option.accepts(value):
        return
    if option.kind is _TOGGLE:
        raise NotOffered(f"{one_line(option.name)} takes on or off")
    near = _nearest(str(value), [offer.name for offer in option.offers])
    hint = f"; did you mean {one_line(near)}?" if near else ""
    raise NotOffered(f"unknown {one_line(option.name)} '{one_line(str(value))}'{hint}")


def _nearest(name: str, names: Sequence[str]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - not needed at start

    folded = {it.casefold(): it for it in names if it}
    near = get_close_matches(name[:LONGEST_NAME].casefold(), folded, n=1)
    return folded[near[0]] if near else None
