"""Faults: the agent's errors, in its words, as one line for the user."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from eca_nvim.protocol.acp import DecodeError
from eca_nvim.protocol.acp.lifecycle import AUTH_REQUIRED, AuthMeta, AuthMethod
from eca_nvim.transport import RemoteError

TERMINAL: Final = "terminal"
"""The type of a login that is a command in a terminal."""


class Faults:
    """Words the errors of one agent: its `program`; `auth_methods` are its ways to log in."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.auth_methods: Sequence[AuthMethod] = ()

    def line(self, what: str, fault: RemoteError | DecodeError) -> str:
        """Return what went wrong in one line; `what` says which action failed."""
        if isinstance(fault, DecodeError):
            return f"{what}: {self.program} sent an answer that cannot be read: {one_line(fault)}"
        if fault.code == AUTH_REQUIRED:
            return self._login()
        return f"{what}: {one_line(told(fault))}"

    def _login(self) -> str:
        ways = "; ".join(map(self._way, self.auth_methods))
        return f"{self.program} needs a login{': ' if ways else ''}{ways}"

    def _way(self, method: AuthMethod) -> str:
        """Return the name of a way to log in, with its command or variable, or what it says."""
        meta = method.meta or AuthMeta()
        if meta.terminal_auth is not None:
            about = f"run {_command(meta.terminal_auth.command, meta.terminal_auth.args)}"
        elif TERMINAL in (method.type, meta.type):
            about = f"run {_command(self.program, method.args or meta.args)}"
        elif method.vars:
            about = "set " + ", ".join(f"${it.name}" for it in method.vars)
        else:
            about = method.description or ""
        return one_line(f"{method.name} ({about})" if about else method.name)


def _command(program: str, arguments: Sequence[str]) -> str:
    return shlex.join((program, *arguments))


def told(fault: RemoteError) -> str:
    """Return the agent's words: its message, and what `data` adds to it."""
    details = _details(fault.data)
    return (
        f"{fault.message}: {details}" if details and details not in fault.message else fault.message
    )


def _details(data: object) -> str:
    match data:
        case str():
            return data
        case Mapping():
            words = (data.get(key) for key in ("details", "message", "error"))
            return next((word for word in words if isinstance(word, str)), "")
        case _:
            return ""


def one_line(text: object) -> str:
    """Put a text from the agent on one line."""
    return " ".join(str(text).split())
