"""Steps: logging in to a provider or an MCP server of an ECA server, step by step.

Rules kept here:
- The server says what the next step is. What it asks for is hidden unless it is plain text.
- The server believes whatever it is sent: a name that its list lacks would be stored as a provider,
  and an empty key would replace the stored one. So neither is sent.
- It forgets only what a login has stored. Whether the user is logged out is what it reports then.
- A login that the user finishes in a browser is over when the server reports the provider as logged
  in (providers/updated), or the MCP server as running (tool/serverUpdated).
"""

from collections.abc import Sequence
from typing import Final

import anyio

from eca_nvim.agents.abilities import AgentRefused, LoginEnd, LoginUser, LoginWay
from eca_nvim.agents.eca.login.providers import EcaProviders, state_of
from eca_nvim.agents.eca.tool_servers import EcaToolServers
from eca_nvim.chat.text.safe_text import host_of, one_line, truncate
from eca_nvim.chat.vocabulary.agent_events import USABLE, AgentEvent
from eca_nvim.chat.vocabulary.agent_events import ToolServerState as State
from eca_nvim.protocol.eca import providers as eca
from eca_nvim.protocol.eca import tools

MOST_STEPS: Final = 20
"""Steps of one login."""
MOST_CHOICES: Final = 20
"""Methods to choose from, and fields to fill."""
LONGEST_MESSAGE: Final = 500
"""Cells of what the server says about a link."""
LONGEST_LINK: Final = 8000
"""Characters of a link that is shown."""
BROWSER_SECONDS: Final = 900.0
"""Time for the user to log in in a browser."""
LOGOUT_SECONDS: Final = 15.0
"""Time for an MCP server to stop, and to start again without credentials."""

_MCP: Final = "mcp:"
_CAN_LOG_IN: Final = frozenset({State.NEEDS_LOGIN, State.FAILED, State.STARTING})
_PLAIN: Final = "text"
_STRANGE: Final = "the server wants a step that this client cannot do: send the prompt /login"


class ProviderLogins:
    """Logs the user in to the providers of one server process."""

    def __init__(self, providers: EcaProviders) -> None:
        self._providers = providers
        self._ask = providers.ask
        self._logged_in: dict[str, anyio.Event] = {}  # by the provider of each login that runs

    async def ways(self) -> Sequence[LoginWay]:
        """Return the providers with a login (providers/list). Raises AgentRefused."""
        return [_way(it) for it in await self._providers.list() if it.login is not None]

    async def log_in(self, provider: str, user: LoginUser) -> LoginEnd:
        """Log in to a provider (providers/login, providers/loginInput). Raises AgentRefused."""
        await self._require(provider)
        self._logged_in[provider] = anyio.Event()
        try:
            await self._log_in(provider, user)
        finally:
            del self._logged_in[provider]
        return LoginEnd.DONE

    async def log_out(self, provider: str | None) -> str | None:
        """Forget the credentials of a provider (providers/logout). Raises AgentRefused.

        Returns why the user is still logged in, as the server has reported before its response.
        """
        if provider is None:
            raise AgentRefused("log out of which provider? :Eca logout completes their names")
        await self._require(provider)
        await self._ask(eca.ProvidersLogoutParams(provider=provider))
        reported = self._providers.reported(provider)
        if reported is None or not _is_logged_in(reported):
            return None
        return f"Still logged in to {provider}: {_source(reported)}."

    async def _require(self, provider: str) -> None:
        """Raise AgentRefused if there is no login to a provider of this name."""
        known = [way.id for way in await self.ways()]
        if provider not in known:
            names = ", ".join(known) or "none"
            raise AgentRefused(f"there is no login {one_line(provider)!r}, but: {names}")

    def updated(self, provider: eca.ProvidersUpdated) -> Sequence[AgentEvent]:
        """Note that a provider has changed: the login that waits for it is over."""
        if provider.id in self._logged_in and _is_logged_in(provider):
            self._logged_in[provider.id].set()
        return self._providers.updated(provider)

    async def _log_in(self, provider: str, user: LoginUser) -> None:
        step = await self._ask(eca.ProvidersLoginParams(provider=provider))
        for _ in range(MOST_STEPS):
            match step:
                case eca.LoginDone():
                    return
                case eca.ChooseMethod(methods=methods) if 0 < len(methods) <= MOST_CHOICES:
                    offers = [(it.label or it.key, "") for it in methods]
                    chosen = methods[await user.choose(f"Log in to {provider}", offers)].key
                    request = eca.ProvidersLoginParams(provider=provider, login_method=chosen)
                    step = await self._ask(request)
                case eca.AskInput(fields=fields) if 0 < len(fields) <= MOST_CHOICES:
                    step = await self._fill(provider, fields, user)
                case eca.Authorize(url=url, message=message, fields=fields) if _is_link(url):
                    user.tell(_link(url, message))
                    if not fields:
                        await self._browser(provider, user)
                        return
                    step = await self._fill(provider, fields, user)
                case eca.DeviceCode(url=url, code=code, message=message) if _is_link(url):
                    to_type = truncate(one_line(code), LONGEST_MESSAGE)
                    user.tell(f"{_link(url, message)}\nThe code to type there: {to_type}")
                    await self._browser(provider, user)
                    return
                case _:
                    break
        raise AgentRefused(_STRANGE)

    async def _fill(
        self, provider: str, fields: Sequence[eca.InputField], user: LoginUser
    ) -> eca.LoginAction:
        """Ask for each field, and send them together."""
        data: dict[str, str] = {}
        for field in fields:
            asked, secret = f"{provider}: {field.label or field.key}", field.type != _PLAIN
            data[field.key] = (await user.type(asked, secret=secret)).strip()
            if secret and not data[field.key]:
                raise AgentRefused(f"{asked}: nothing was typed, and nothing is sent")
        user.wait(f"{provider} checks what you typed")
        return await self._ask(eca.ProvidersLoginInputParams(provider=provider, data=data))

    async def _browser(self, provider: str, user: LoginUser) -> None:
        """Wait until the user has logged in in a browser."""
        user.wait(f"{provider} waits for you to log in at the link above")
        with anyio.move_on_after(BROWSER_SECONDS) as scope:
            await self._logged_in[provider].wait()
        if scope.cancelled_caught:
            raise AgentRefused(f"{provider}: no login after {BROWSER_SECONDS / 60:g} minutes")


class ToolServerLogins:
    """Logs the user in to the MCP servers of one server process; a way's id is `mcp:` and a name.

    The server opens the browser, on its own machine, and puts the address on no wire: the program
    that it runs for that is ours (`mcp/link_socket`).
    """

    def __init__(self, servers: EcaToolServers) -> None:
        self._servers = servers

    def has(self, way: str) -> bool:
        """Return whether a way leads to an MCP server with a login."""
        known = self._servers.known.get(way.removeprefix(_MCP))
        return way.startswith(_MCP) and known is not None and known.has_login

    def ways(self) -> Sequence[LoginWay]:
        """Return the MCP servers with a login."""
        return [
            LoginWay(
                *(f"{_MCP}{it.name}", f"{it.name} (MCP server)", it.status.value),
                it.status is State.RUNNING,
            )
            for it in self._servers.known.values()
            if it.has_login
        ]

    async def log_in(self, way: str, user: LoginUser) -> LoginEnd:
        """Log in to an MCP server (mcp/connectServer). Raises AgentRefused."""
        name = way.removeprefix(_MCP)
        status = self._servers.status(name)
        if status not in _CAN_LOG_IN:  # the server would say nothing, and nothing would end
            raise AgentRefused(f"nothing to log in to: the MCP server {one_line(name)} is {status}")
        self._servers.tell(tools.McpConnect, name)
        user.wait(f"{name} waits for you to log in at the page that the server opens")
        self._servers.mark(name, State.LOGGING_IN)
        try:
            with anyio.move_on_after(BROWSER_SECONDS):
                await self._servers.leave(name, frozenset({State.LOGGING_IN}))
        finally:
            if self._servers.status(name) is State.LOGGING_IN:
                # or it would wait for the browser for ever
                self._servers.tell(tools.McpLogout, name)
                self._servers.mark(name, State.STARTING)
        if self._servers.status(name) is not State.RUNNING:
            raise AgentRefused(f"not logged in: the MCP server {one_line(name)} did not start")
        return LoginEnd.DONE

    async def log_out(self, way: str) -> str | None:
        """Forget the credentials of an MCP server (mcp/logoutServer). Raises AgentRefused.

        Returns why the user may still be logged in, as the server reports after that.
        """
        name = way.removeprefix(_MCP)
        before, shown = self._servers.status(name), f"the MCP server {one_line(name)}"
        if before in (None, State.NEEDS_LOGIN, State.LOGGING_OUT):
            raise AgentRefused(f"you are not logged in: the state of {shown} is {before}")
        self._servers.tell(tools.McpLogout, name)
        self._servers.mark(name, State.LOGGING_OUT)
        try:
            with anyio.move_on_after(LOGOUT_SECONDS):
                await self._servers.leave(name, frozenset({State.LOGGING_OUT}))
            status = self._servers.status(name)
        finally:
            if self._servers.status(name) is State.LOGGING_OUT:
                self._servers.mark(name, before)
        if status in (State.NEEDS_LOGIN, None):  # None: it was removed
            return None
        told = "has not started again since" if status is State.LOGGING_OUT else f"reports {status}"
        return f"You may still be logged in: {shown} {told}."


def _way(provider: eca.Provider) -> LoginWay:
    return LoginWay(
        provider.id,
        provider.label or provider.id,
        _about(provider.auth or eca.ProviderAuth()),
        logged_in=_is_logged_in(provider),
    )


def _source(provider: eca.Provider) -> str:
    """Return where the credentials are that the server still uses."""
    auth = provider.auth or eca.ProviderAuth()
    if auth.source == "config":
        return "remove its key from ECA's config file"
    if auth.source == "env":
        return f"the server has its key in ${auth.env_var or '…'}"
    return f"the server reports {_about(auth)}"


def _about(auth: eca.ProviderAuth) -> str:
    return one_line(", ".join(filter(None, (auth.status, auth.type, auth.source))))


def _is_logged_in(provider: eca.Provider) -> bool:
    return state_of(provider) in USABLE


def _is_link(url: str) -> bool:
    """Return whether a link leads to a host in the web, and can be shown whole."""
    return len(url) <= LONGEST_LINK and host_of(url) is not None


def _link(url: str, message: str | None) -> str:
    """Return a link with its host, whole; the user opens it."""
    told = truncate(one_line(message or "Open this page to log in"), LONGEST_MESSAGE)
    return f"{told}\n{host_of(url)}:\n{url}"
