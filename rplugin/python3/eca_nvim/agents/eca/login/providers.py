"""Providers: who offers an ECA server its models (`abilities.Providers`), as it last reported them.

Rule: a report that came while the list was being asked for is newer than the list.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from eca_nvim.agents.abilities import AgentLacks
from eca_nvim.agents.base import Emit
from eca_nvim.agents.eca.server import EcaServer
from eca_nvim.chat.vocabulary.agent_events import (
    AgentEvent,
    Model,
    Provider,
    ProvidersChanged,
    ProviderState,
)
from eca_nvim.protocol.eca import Request
from eca_nvim.protocol.eca import providers as eca

REQUEST_SECONDS: Final = 120.0
"""Time for the server to answer: it may ask the providers."""
MILLION: Final = 1e6

_STATES: Final[Mapping[str | None, ProviderState]] = {
    "authenticated": ProviderState.LOGGED_IN,
    "expiring": ProviderState.EXPIRING,
    "local": ProviderState.LOCAL,
    "expired": ProviderState.EXPIRED,
    "unauthenticated": ProviderState.LOGGED_OUT,
    "not-running": ProviderState.NOT_RUNNING,
}
_CAN: Final = (
    ("reason", "thinks"),
    ("vision", "sees images"),
    ("web_search", "searches the web"),
    ("image_generation", "makes images"),
)
_NO_TOOLS: Final = "uses no tools"

Result = TypeVar("Result")


class EcaProviders:
    """The providers of one server process."""

    def __init__(self, server: EcaServer, emit: Emit) -> None:
        self._server = server
        self._emit = emit
        self._known: dict[str, Provider] | None = None  # by id; None before the first list
        self._reported: dict[str, tuple[int, eca.Provider]] = {}  # with the number of the report
        self._reports = 0

    async def refresh(self) -> None:
        """Ask for all providers (providers/list). Raises AgentRefused."""
        await self.list()

    async def list(self) -> Sequence[eca.Provider]:
        """Ask for all providers (providers/list), and report them. Raises AgentRefused."""
        before = self._reports
        listed = {
            it.id: it for it in (await self.ask(eca.ProvidersListParams())).providers if it.id
        }
        newer = {key: it for key, (number, it) in self._reported.items() if number > before}
        self._known = {key: _provider(it) for key, it in (listed | newer).items()}
        self._emit([ProvidersChanged(tuple(self._known.values()))])
        return [*listed.values()]

    def updated(self, provider: eca.Provider) -> Sequence[AgentEvent]:
        """Note that a provider has changed, which the server reports whole."""
        self._reports += 1
        self._reported[provider.id] = (self._reports, provider)
        if self._known is None or not provider.id:
            return ()
        self._known[provider.id] = _provider(provider)
        return (ProvidersChanged(tuple(self._known.values())),)

    def reported(self, provider_id: str) -> eca.Provider | None:
        """Return the last report of a provider; None: it was only listed."""
        return self._reported.get(provider_id, (0, None))[1]

    async def ask(self, request: Request[Result]) -> Result:
        """Send a request about providers and return its result. Raises AgentRefused."""
        try:
            return await self._server.ask(request, REQUEST_SECONDS)
        except AgentLacks as fault:
            raise AgentLacks("this server has no providers: send the prompt /login") from fault


def state_of(provider: eca.Provider) -> ProviderState:
    """Return whether a provider can be used."""
    status = None if provider.auth is None else provider.auth.status
    return _STATES.get(status, ProviderState.UNKNOWN)


def _provider(provider: eca.Provider) -> Provider:
    auth, settings = provider.auth or eca.ProviderAuth(), provider.settings or {}
    login = provider.login or eca.LoginMethods()
    return Provider(
        provider.id,
        provider.label or provider.id,
        state_of(provider),
        source=auth.source or "",
        variable=auth.env_var or "",
        kind=auth.type or "",
        expires=auth.expires_at,
        address=str(settings.get("url") or ""),
        ways=tuple(it.label or it.key for it in login.methods),
        models=tuple(_models(provider)),
    )


def _models(provider: eca.Provider) -> Iterable[Model]:
    for model in {it.id: it for it in provider.models if it.id}.values():
        able = model.capabilities or eca.ModelCapabilities()
        can = [words for name, words in _CAN if getattr(able, name)]
        yield Model(
            model.id,
            f"{provider.id}/{model.id}",
            (*can, *([_NO_TOOLS] if able.tools is False else ())),
            _prices(model.cost or eca.ModelCost()),
        )


def _prices(cost: eca.ModelCost) -> tuple[float, float] | None:
    """Return prices per million tokens; a negative one says that it depends."""
    if cost.input is None or cost.output is None or min(cost.input, cost.output) < 0:
        return None
    return (cost.input * MILLION, cost.output * MILLION)
