"""Login: the ways of an ACP agent to log in, and doing one of them.

What logs in is the agent itself (`authenticate`), a program in a terminal, or a variable that the
user sets.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from eca_nvim.agents.abilities import (
    AgentLacks,
    AgentRefused,
    LoginCommand,
    LoginEnd,
    LoginUser,
    LoginWay,
)
from eca_nvim.agents.acp.link import Link
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.protocol.acp import lifecycle
from eca_nvim.spawn import child_environment

AUTHENTICATE_SECONDS: Final = 600.0
"""Time for an agent to log in: the user may have to do something in a browser."""
LOGOUT_SECONDS: Final = 30.0
MOST_WAYS: Final = 20
"""Ways that are offered; further ones are left out."""

_TERMINAL: Final = "terminal"
_SPEAKS_ACP: Final = frozenset({"--acp", "--experimental-acp", "acp"})
"""Arguments that make a program speak the protocol, where it should talk to the user."""
_TO_NEOVIM: Final = "NVIM"
"""Neovim sets this variable to its own address in each terminal, unless it is set."""


class Logins:
    """Logs the user in to one agent process; `methods`: its ways, as it has introduced them."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._program = link.program
        given = link.program.environment
        self._environment = child_environment() if given is None else given
        self.methods: Sequence[lifecycle.AuthMethod] = ()
        self.can_log_out = False

    def ways(self) -> Sequence[LoginWay]:
        """Return the ways to log in."""
        return [self._way(method) for method in self.methods[:MOST_WAYS]]

    async def log_in(self, way_id: str, user: LoginUser) -> LoginEnd:
        """Log in by a way. Raises AgentRefused."""
        method = next((it for it in self.methods if it.id == way_id), None)
        if method is None:
            known = ", ".join(it.id for it in self.methods[:MOST_WAYS])
            raise AgentRefused(f"there is no login {one_line(way_id)!r}, but: {known or 'none'}")
        command = self._command(method)
        if command is not None:
            code = await user.run(command)
            if code < 0:
                raise AgentRefused(f"{method.name}: its terminal was closed")
            if code > 0:
                raise AgentRefused(f"{method.name}: the program ended with exit code {code}")
            return LoginEnd.RESTART  # the agent knows of it once it has started again
        if missing := self._missing(method):
            names = " and ".join(f"${name}" for name in missing)
            raise AgentRefused(
                f"{self._program.name} reads {names}, which is not set: set it as `env` of this "
                "server in the option servers, or before Neovim starts; then :Eca restart"
            )
        user.wait(f"{self._program.name} logs in: {method.name}")
        try:
            authenticate = lifecycle.AuthenticateParams(method.id)
            await self._link.ask(authenticate, method.name, AUTHENTICATE_SECONDS)
        except AgentRefused as refused:
            # A way that only says in words what to do is tried like any other.
            advice = f" ({method.description})" if method.description else ""
            raise AgentRefused(f"{refused}{advice}") from refused
        return LoginEnd.REPEATABLE

    async def log_out(self) -> None:
        """Log out. Raises AgentRefused."""
        if not self.can_log_out:
            raise AgentLacks(f"{self._program.name} cannot log out: use its own program for that")
        await self._link.ask(lifecycle.LogoutParams(), "the logout", LOGOUT_SECONDS)

    def _missing(self, method: lifecycle.AuthMethod) -> list[str]:
        needed = (it.name for it in method.vars if not it.optional)
        return [name for name in needed if not self._environment.get(name)]

    def _way(self, method: lifecycle.AuthMethod) -> LoginWay:
        command = self._command(method)
        if command is not None:
            about = f"runs {shlex.join(command.command)}"
        elif missing := self._missing(method):
            about = f"needs {' and '.join(f'${name}' for name in missing)}, not set"
        else:
            about = method.description or ""
        return LoginWay(method.id, one_line(method.name), one_line(about))

    def _command(self, method: lifecycle.AuthMethod) -> LoginCommand | None:
        """Return what a way runs in a terminal; None if it runs nothing."""
        meta, whole = method.meta or lifecycle.AuthMeta(), self._program.command
        if method.type == _TERMINAL:
            return self._run(method, (*whole, *method.args), method.env)
        if (older := meta.terminal_auth) is not None:  # copilot 1.0.102
            return self._run(method, (older.command, *older.args), older.env)
        if meta.type == _TERMINAL:  # qwen 0.24.4, whose arguments replace those of the agent
            base = [word for word in whole if word not in _SPEAKS_ACP]
            return self._run(method, (*base, *meta.args), {})
        return None

    def _run(
        self, method: lifecycle.AuthMethod, command: Sequence[str], added: Mapping[str, str]
    ) -> LoginCommand:
        whole = {**self._environment, **added, _TO_NEOVIM: ""}
        environment = {name: it for name, it in whole.items() if _is_text(name) and _is_text(it)}
        return LoginCommand(method.name, command, added, environment, self._program.folder)


def _is_text(value: str) -> bool:
    """Return whether Neovim can get a value: one of odd bytes is no text."""
    return value.encode(errors="ignore").decode() == value
