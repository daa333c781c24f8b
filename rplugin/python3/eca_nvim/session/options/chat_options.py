"""Options: what the user sets in the chats of a server, and what the project set there last.

Options belong to the chat: whenever the agent opens it again, they are set again before the next
prompt (`wanted` says which).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from msgspec.structs import replace

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.base import Agent
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.status import commands_of
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.user_actions.prompts import hold_prompt, send_prompt
from eca_nvim.chat.vocabulary import effects, events, ops
from eca_nvim.chat.vocabulary.options import (
    TRUST,
    ChatOption,
    OptionRefused,
    OptionsChanged,
    OptionValue,
    find_option,
    first_of,
)
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.options.lines import (
    NotOffered,
    asks_less,
    asks_more,
    no_option,
    not_set,
    require_offered,
)
from eca_nvim.session.options.wanted import Wanted, WantedOptions, Why, asking_values
from eca_nvim.session.persistence import Persistence
from eca_nvim.session.view import View


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
        self._states: dict[str, WantedOptions] = {}

    def begin(self, chat: Chat) -> None:
        """Prepare a chat that the user has begun, here or in an earlier Neovim."""
        self._begin(chat.id)
        self.open_chat(chat)

    @contextmanager
    def opened_again(self, chat_id: str) -> Iterator[None]:
        """Prepare a chat that is opened with what was said in it, unless that is refused."""
        state = self._begin(chat_id)
        was_back, state.is_back = state.is_back, True
        try:
            yield
        except AgentRefused:
            state.is_back = was_back
            raise

    def copied(self, chat: Chat, copy: Chat) -> None:
        """Prepare a copy of a chat: it gets what was set there, as if that came back."""
        left, chosen = asking_values(chat.options), self._state(chat.id).in_chat
        self._state(copy.id).returns(chosen, left, trusted=chat.trust)
        self.begin(copy)

    @contextmanager
    def loading(self, chat_id: str) -> Iterator[None]:
        """Note that a chat is being opened with its text: no choice opens it without."""
        state = self._state(chat_id)
        state.is_loading = True
        try:
            yield
        finally:
            state.is_loading = False
            chat = self._chats.table.get(chat_id)
            if chat is not None and self._states.get(chat_id) is state:
                lines, state.lines = state.lines, []
                for line in lines:
                    self._complain(chat, line)
                if state.needs_list:
                    self.open_chat(chat)

    def open_chat(self, chat: Chat) -> None:
        """Ask the agent for the options of a chat; one that is not ready is asked later."""
        if (agent := self._agent()) is not None:
            agent.open_chat(chat.id, is_needed=self._state(chat.id).needs_list)

    def forget(self, chat: Chat) -> None:
        """Forget a chat that is no longer one of this server."""
        self._states.pop(chat.id, None)
        self._persistence.drop_options(chat.id)
        chat.asked_options.clear()
        if (agent := self._agent()) is not None:
            agent.forget(chat.id)

    def agent_ended(self) -> None:
        """Note what the next agent must set again in each chat."""
        for chat in self._chats.of(self._server):
            self.session_ended(chat)

    def session_ended(self, chat: Chat) -> None:
        """Note what the next session of a chat must set again."""
        state = self._state(chat.id)
        state.is_listed, state.setting = False, 0
        state.unconfirmed.clear()
        state.left = {**state.left, **asking_values(chat.options)}
        for option_id, value in chat.asked_options.items():
            state.wanted.setdefault(option_id, Wanted(value, Why.ASKED))  # else set since
        chat.asked_options.clear()
        for option in chat.options:
            is_own = option.id in state.chosen or not chat.is_blank
            # A value with which tools run unasked is a choice of the user, or it is not set.
            is_own = is_own and state.is_restored(option)
            if is_own and option.value and option.category != TRUST:
                state.set_again({option.id: option.value})
        if chat.trust:
            state.wanted[TRUST] = Wanted(True, Why.SET)

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
            require_offered(option, value)
        agent = self._agent()
        if agent is None or not self._state(chat.id).is_listed:
            option = option or ChatOption(key, key, category=key)
            self._set_later(chat, option, value, is_saved=is_saved)
            self.open_chat(chat)
        elif option is None:
            raise NotOffered(no_option(key))
        else:
            state = self._state(chat.id)
            state.drop(option)
            state.chosen.add(option.id)
            state.unconfirmed[option.id] = value
            if is_saved:
                chat.asked_options[option.id] = state.by_user[option.id] = value
            self._set(agent, chat, option, value, Why.ASKED)

    def tell_trust(self, chat: Chat) -> None:
        """Tell the agent whether a chat is trusted, if it has an option for that."""
        state = self._state(chat.id)
        state.was_trusted = False
        self._save(chat)
        state.wanted.pop(TRUST, None)
        agent, option = self._agent(), first_of(chat.options, TRUST)
        if agent is not None and option is not None and state.is_listed:
            self._set(agent, chat, option, chat.trust, Why.ASKED)
        else:
            state.wanted[TRUST] = Wanted(chat.trust, Why.SET)

    def apply(self, chat: Chat, event: OptionsChanged | OptionRefused) -> None:
        """Apply an event about the options of a chat, then set what waits for it."""
        asked = dict(chat.asked_options)
        before = {option.id: option.value for option in chat.options}
        self._chats.apply(chat, [event])
        done = {it.id for it in chat.options if it.id in asked and it.value == asked[it.id]}
        for option, command in zip(chat.options, commands_of(chat.options), strict=True):
            value, is_new = option.value, option.value != before.get(option.id)
            is_asking = option.accepts(value) and value not in option.unasked
            if done and (option.id in done or is_new) and is_asking and option.category != TRUST:
                self._persistence.keep_choice(self._server, option.id, value)
            if option.id in done and command is None:  # else the winbar shows it
                line = f"{option.name}: {option.name_of(option.value)}"
                self._view.push([ops.Notify("info", one_line(line))])
        agent, state = self._agent(), self._state(chat.id)
        state.answered(event, chat.options)
        state.is_listed = agent is not None and (
            state.is_listed or isinstance(event, OptionsChanged)
        )
        if chat.has_turn:
            self._save(chat)
        if agent is not None and state.is_listed:
            self._set_wanted(agent, chat)
            self._settle(agent, chat, has_chosen=bool(done))

    def sending(self, prompt: effects.Prompt) -> bool:
        """Return whether a prompt may be sent now; else it is queued, and the user sees why.

        A prompt that is sent again may, and one for an agent that has yet to confirm a value: that
        holds it until then.
        """
        chat = self._chats.get(prompt.chat_id)
        state = self._state(chat.id)
        is_free = self._agent() is None or state.setting or not state.unconfirmed
        if not is_free and self._object(chat, prompt):
            return False
        self._save(chat)
        return True

    def _settle(self, agent: Agent, chat: Chat, *, has_chosen: bool) -> None:
        """Decide on the prompts that wait until all values are set."""
        state = self._state(chat.id)
        if state.setting:
            return
        if state.objection(chat.options) is not None:
            prompt = agent.withhold(chat.id)
            if prompt is not None:
                self._object(chat, prompt)
        elif state.holds_prompt and has_chosen:
            state.holds_prompt = False
            self._chats.show(send_prompt(chat, "", now()))

    def _object(self, chat: Chat, prompt: effects.Prompt) -> bool:
        """Queue a prompt if an option asks less than what is to be set, the first time."""
        state = self._state(chat.id)
        found = state.objection(chat.options)
        if found is None:
            return False
        state.unconfirmed.clear()
        state.holds_prompt = True
        reason = asks_less(*found, chat.options)
        self._chats.show(hold_prompt(chat, prompt.text, prompt.contexts, reason, now()))
        return True

    def _state(self, chat_id: str) -> WantedOptions:
        state = self._states.get(chat_id)
        if state is None:
            state = self._states[chat_id] = WantedOptions()
            saved = self._persistence.options_of(chat_id)
            if saved is not None:
                state.returns(saved.chosen, saved.left, trusted=saved.trusted)
        return state

    def _begin(self, chat_id: str) -> WantedOptions:
        state = self._state(chat_id)
        state.begin(self._persistence.choices(self._server), self._configured())
        return state

    def _save(self, chat: Chat) -> None:
        """Save what a chat has that is in use."""
        state = self._state(chat.id)
        if chat.is_blank and not state.is_back:
            return
        left = asking_values(chat.options) if state.is_listed else state.left
        self._persistence.keep_options(chat.id, state.in_chat, left, trusted=chat.trust)

    def _set_later(
        self, chat: Chat, option: ChatOption, value: OptionValue, *, is_saved: bool
    ) -> None:
        """Show a value that the agent gets when it is ready."""
        why = Why.ASKED if is_saved else Why.SET
        wanted = self._state(chat.id).wanted
        wanted.pop(option.id, None)  # the last one counts (`WantedOptions.take`)
        wanted[option.id] = Wanted(value, why)
        options = chat.options if option in chat.options else (*chat.options, option)
        shown = [replace(it, value=value) if it is option else it for it in options]
        self._chats.apply(chat, [OptionsChanged(tuple(shown))])

    def _set(
        self, agent: Agent, chat: Chat, option: ChatOption, value: OptionValue, why: Why
    ) -> None:
        """Set a value; one from before the chat came back, or the last one, nobody chose now."""
        state, is_chosen = self._state(chat.id), why not in (Why.RETURNED, Why.LAST)
        if is_chosen and why is not Why.SET:
            state.user_sets(option, value)
        state.setting += 1
        agent.set_option(chat.id, option.id, value, is_chosen=is_chosen)

    def _set_wanted(self, agent: Agent, chat: Chat) -> None:
        """Set the first value that waits; the list that follows may bring the next."""
        state = self._state(chat.id)
        for option in chat.options:
            wanted = state.take(option)
            if wanted is None:
                continue
            value = option.meant(wanted.value)  # without the list the user can only name it
            is_set = value == option.value and value not in option.unasked
            if is_set and wanted.why is Why.CONFIGURED:
                continue
            if state.is_withheld(option, value, wanted.why):
                continue
            if not _is_trust(option, wanted):
                state.unconfirmed[option.id] = value
            if option.accepts(value) and not _is_trust(option, wanted):
                if wanted.asked:
                    chat.asked_options[option.id] = state.by_user[option.id] = value
                self._set(agent, chat, option, value, wanted.why)
                return
            if wanted.asked:
                self._complain(chat, not_set(option, wanted.value))
            elif wanted.why is Why.CONFIGURED:
                self._complain(chat, self._not_configured(option, wanted))
        self._give_up(chat, state)

    def _give_up(self, chat: Chat, state: WantedOptions) -> None:
        """Name the options that the agent does not have; the user's own ones may come later.

        Offer what is not set again by itself.
        """
        for key, wanted in tuple(state.wanted.items()):
            if wanted.asked:
                del state.wanted[key]
                self._complain(chat, no_option(key))
            elif wanted.why is Why.CONFIGURED and find_option(chat.options, key) is None:
                state.wanted[key] = Wanted(wanted.value, Why.SET)
                line = f"servers.{self._server}.options.{key} is not set: {no_option(key)}"
                self._complain(chat, one_line(line))
        trusts = state.was_trusted and not chat.trust
        if state.offered or trusts:
            self._complain(chat, asks_more(state.offered, chat.options, trusts=trusts))
        state.offered, state.was_trusted = [], False

    def _not_configured(self, option: ChatOption, wanted: Wanted) -> str:
        if _is_trust(option, wanted):
            return f"servers.{self._server}.options does not set trust: :Eca trust does"
        return f"servers.{self._server}.options: {not_set(option, wanted.value)}"

    def _complain(self, chat: Chat, line: str) -> None:
        """Show a line in a chat, below its text."""
        state = self._state(chat.id)
        if state.is_loading:
            state.lines.append(line)
        else:
            self._chats.apply(chat, [events.NoticeReceived(line, is_error=True)])


def _is_trust(option: ChatOption, wanted: Wanted) -> bool:
    """Return whether the options want to switch trust, which the user does in each chat."""
    return option.category == TRUST and wanted.why is Why.CONFIGURED
