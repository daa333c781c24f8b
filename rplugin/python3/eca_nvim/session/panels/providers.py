"""The panel of who offers models: the providers of an ECA server, or an agent's ways to log in.

Rule: what a login asks, it asks in a chat: the panel only starts one, and goes there.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

from eca_nvim.agents.abilities import AgentRefused, LoginWay
from eca_nvim.agents.base import Agent, AgentFault
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import duration, width
from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.agent_events import USABLE, Model, Provider, ProviderState
from eca_nvim.chat.vocabulary.options import MODEL, ChatOption, first_of
from eca_nvim.chat.vocabulary.panels import Action, Cell, Row
from eca_nvim.session.panels.panel import ANSWER_SECONDS, Answer, Panel, Scene, cell, note, rest
from eca_nvim.session.view import Refused, isolated

LIST_SECONDS: Final = 150.0
"""Time for a server to start and to list its providers, which it may have to ask."""
NO_WAYS: Final = "it offers no way to log in here: log in with its own program, then :Eca restart"
MODELS_ELSEWHERE: Final = "its models are no rows here: :Eca model sets the one of a chat"
SOON: Final = 0.5
"""Seconds within which an answer is not waited for in a row of its own."""
OF_NO_CHAT: Final = "this panel was opened from no chat: open it again from the one to set"
NO_CHAT: Final = "there is no chat of this server to do that in: :EcaChat opens one"

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_GROUPS: Final[Mapping[ProviderState, str]] = {
    ProviderState.LOGGED_IN: "EcaToolDone",
    ProviderState.LOCAL: "EcaToolDone",
    ProviderState.EXPIRING: "EcaWarning",
    ProviderState.EXPIRED: "EcaError",
}
_INDENT: Final = "    "
_ASK: Final = ("ask",)
_OPEN: Final = ("models",)


class ProvidersPanel(Panel):
    """The providers of one server, those that can be used first, with their models below them."""

    ACTIONS: ClassVar = (
        Action("models", "o", "models"),
        Action("use", "u", "use this model"),
        Action("login", "i", "log in"),
        Action("logout", "x", "log out", sure="Log out of {}?"),
        Action("chat", "c", "go to its chat"),
        Action("ask", "r", "ask again", everywhere=True),
    )

    def __init__(self, scene: Scene, chat_id: str | None) -> None:
        super().__init__(scene, chat_id)
        self._asked: float | None = time.monotonic()  # since when an answer is awaited
        self._fault = ""
        self._ways: Sequence[LoginWay] | None = None  # of an agent that names no providers
        self._agent: Agent | None = None  # that was asked
        self._offers: object = None  # the models that it had then

    @property
    def title(self) -> str:
        """Whose providers, and how many of them can be used."""
        name, known = cell(self.server.name), self._known
        if self._ways is not None:
            return f"logins of {name}"
        ready = f": {sum(it.state in USABLE for it in known)} of {len(known)} ready"
        return f"providers of {name}{ready if known else ''}"

    def seconds_for(self, action: str) -> float:
        """Return the time in which an action shows its effect."""
        return LIST_SECONDS if action in _ASK else ANSWER_SECONDS

    @property
    def _known(self) -> Sequence[Provider]:
        return self.server.incoming.providers or ()

    # --- asking -----------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Ask for what is shown, which may be slow or fail: a row says so."""
        try:
            agent = self._agent = await self.server.process.ready()
            self._offers = self._model and self._model.offers
            if agent.providers is not None:
                await agent.providers.refresh()
            else:
                self._ways = await agent.login_ways()
        except (AgentRefused, AgentFault) as fault:
            self._fault = str(fault)
        finally:
            self._asked = None

    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:  # noqa: ARG002 - nothing is asked for
        """Do what the user wants with a provider or one of its models."""
        if action == "ask" and self._asked is not None:
            raise Refused("still waiting for the answer")
        if action == "ask":
            self._asked, self._fault = time.monotonic(), ""
            await self.begin()
            return None
        if action == "chat":
            return {"chat": self._login_chat().id}
        provider_id, model = self._found(row)
        if action == "models":
            self.toggle(provider_id)
        elif action == "use" and model is not None:
            if self._chat is None:
                raise Refused(OF_NO_CHAT)
            self.server.options.set(self._chat, MODEL, model.value)
        elif action == "login":
            chat = self._login_chat()
            self.server.login.log_in(chat, provider_id)
            return {"chat": chat.id}
        elif action == "logout":
            line = await self.server.login.log_out(None if self._ways else provider_id)
            self.scene.view.push([ops.Notify("info", line)])
        return None

    def _found(self, row: str) -> tuple[str, Model | None]:
        """Return the provider or the way that a row is about, and the model. Raises Refused."""
        for way in self._ways or ():
            if row == f"w\n{way.id}":
                return way.id, None
        for provider in self._known:
            if row in (f"p\n{provider.id}", f"d\n{provider.id}", f"l\n{provider.id}"):
                return provider.id, None
            for model in provider.models:
                if row == _model_row(provider, model):
                    return provider.id, model
        raise Refused("this is gone: r asks again")

    @property
    def _chat(self) -> Chat | None:
        """The chat from which the panel was opened."""
        return self.scene.chats.table.get(self.chat_id or "")

    @property
    def _model(self) -> ChatOption | None:
        return None if self._chat is None else first_of(self._chat.options, MODEL)

    def _login_chat(self) -> Chat:
        """Return the chat of a login that runs, or for the next one. Raises Refused."""
        chat = self.server.login.chat or self._chat
        chat = chat or next(iter(self.scene.chats.of(self.server.name)), None)
        if chat is None:
            raise Refused(NO_CHAT)
        return chat

    def _ask_again(self) -> None:
        """Ask another agent, and one that has other models now: nothing else says which."""
        agent, offers = self.server.process.agent, self._model and self._model.offers
        is_other = agent is not self._agent or offers != self._offers
        if self._asked is None and agent is not None and is_other:
            self._asked, self._fault = time.monotonic(), ""
            self.scene.servers.start(self._begin_again)

    async def _begin_again(self) -> None:
        """Ask beside what the user does: a fault is said, and ends nothing else."""
        if self.server.process.agent is None:  # it was stopped a moment ago, and stays down
            self._asked = None
            return
        with isolated(self.scene.view, "ask for the providers", self.server.name):
            await self.begin()

    # --- rows -------------------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """Yield what is being waited for, then the providers or the ways to log in."""
        self._ask_again()
        yield from self._notes()
        if self._ways is not None:
            agent = f"the agent {cell(self.server.name, 40)}"  # it logs out of all ways together
            yield from (_way_row(it, agent) for it in self._ways)
            yield from map(note, (MODELS_ELSEWHERE,) if self._ways else (NO_WAYS, MODELS_ELSEWHERE))
            return
        now, current = time.time(), self._model and self._model.value
        for provider in sorted(self._known, key=lambda it: it.state not in USABLE):
            is_open = provider.id in self.opened
            yield _provider_row(provider, now, is_open=is_open)
            if is_open:
                yield from _details(provider)
                for model in provider.models:
                    yield _row_of_model(provider, model, is_current=model.value == current)

    def _notes(self) -> Iterator[Row]:
        name = cell(self.server.name)
        if self.server.login.chat is not None:
            line = "a login runs in a chat: c goes there, :Eca stop there cancels it"
            yield Row("login", [rest(line, "EcaWarning")], ("chat",))
        waited = 0.0 if self._asked is None else time.monotonic() - self._asked
        if self._asked is not None and (waited > SOON or not self._known):
            took = duration(waited // 1 * 1000)
            yield Row("asked", [rest(f"asking {name} … {took}".rstrip(), "EcaToolRunning")])
        elif self._fault:
            yield Row("fault", [rest(self._fault, "EcaWarning")], _ASK)
        elif self._asked is None and self._ways is None and self.server.incoming.providers is None:
            line = f"{name} has ended: r starts it, and asks for its providers"
            yield Row("unknown", [rest(line, "EcaMuted")], _ASK)
        elif self._asked is None and self._ways is None and not self._known:
            yield note(f"{name} has no providers")


def _whole(text: str, cells: int, group: str = "") -> Cell:
    """Return the text of others as a column that is wider in the row in which it has to be."""
    shown = cell(text)
    return (shown, group, max(cells, width(shown)))


def _way_row(way: LoginWay, agent: str) -> Row:
    state = {True: "logged in", False: "not logged in", None: ""}[way.logged_in]
    group = "EcaToolDone" if way.logged_in else "EcaMuted"
    line = (_whole(way.name, 24), _whole(state, 13 if state else 0, group), rest(way.about))
    return Row(f"w\n{way.id}", line, ("login", "logout"), {"name": agent})


def _provider_row(provider: Provider, now: float, *, is_open: bool) -> Row:
    count = len(provider.models)
    line = (
        ("▾ " if is_open else "▸ ", "EcaMuted", 0),
        _whole(provider.name, 20),
        _whole(_state(provider, now), 18, _GROUPS.get(provider.state, "EcaMuted")),
        _whole(_source(provider), 25),
        rest(f"{count} model{'' if count == 1 else 's'}" if count else "", "EcaMuted"),
    )
    values = {"name": cell(provider.name, 40)}
    return Row(f"p\n{provider.id}", line, _actions(provider), values)


def _actions(provider: Provider) -> Sequence[str]:
    """Return what can be done: the server logs out only of those to which it logs in."""
    is_in = provider.state in USABLE or provider.state is ProviderState.EXPIRED
    return ("models", *(("login", "logout") if is_in else ("login",))) if provider.ways else _OPEN


def _details(provider: Provider) -> Iterator[Row]:
    facts = [f"`{provider.id}`", provider.address, provider.kind]
    actions, values = _actions(provider), {"name": cell(provider.name, 40)}
    indent, about = (_INDENT, "", 0), rest(" · ".join(filter(None, facts)), "EcaMuted")
    yield Row(f"d\n{provider.id}", [indent, about], actions, values)
    line = "no models"
    if provider.ways:
        line += f"; log in by: {', '.join(provider.ways)}"
    if any(it.prices for it in provider.models):
        line = "models, and dollars per million tokens:"
    if not provider.models or any(it.prices for it in provider.models):
        yield Row(f"l\n{provider.id}", [indent, rest(line, "EcaMuted")], actions, values)


def _row_of_model(provider: Provider, model: Model, *, is_current: bool) -> Row:
    line = (
        ("  ● " if is_current else _INDENT, "EcaToolDone", 0),
        _whole(model.name, 32),
        _whole(_prices(model), 18, "EcaMuted"),
        rest(", ".join(model.can), "EcaMuted"),
    )
    return Row(_model_row(provider, model), line, ("use",), {"name": cell(model.name, 40)})


def _model_row(provider: Provider, model: Model) -> str:
    return f"m\n{provider.id}\n{model.name}"


def _prices(model: Model) -> str:
    if model.prices is None:
        return ""
    read, written = model.prices
    return f"${read:.4g} in ${written:.4g} out" if read or written else "free"


def _state(provider: Provider, now: float) -> str:
    """Return the state of a provider, with the time that its login is valid if that is known."""
    left = None if provider.expires is None else provider.expires - now
    if left is None or left <= 0 or provider.state not in USABLE:
        return provider.state.value
    for unit, name in ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        if left >= 2 * unit:
            return f"expires in {left // unit:.0f} {name}"
    return "expires in 1 min"


def _source(provider: Provider) -> str:
    """Return where the key of a provider comes from."""
    match provider.source:
        case "config":
            return "key in ECA's config file"
        case "env":
            return f"key in ${provider.variable}" if provider.variable else "key in a variable"
        case "login":
            return "key of a login" if provider.kind == "api-key" else "by login"
        case source:
            return source
