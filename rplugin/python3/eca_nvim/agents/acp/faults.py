"""Faults: the agent's errors, in its words, as one line for the user."""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.protocol.acp import DecodeError
from eca_nvim.protocol.acp.lifecycle import AUTH_REQUIRED
from eca_nvim.transport import RemoteError


class Faults:
    """Words the errors of one agent."""

    def __init__(self, program: str) -> None:
        self._program = program

    def line(self, what: str, fault: RemoteError | DecodeError) -> str:
        """Return what went wrong in one line; `what` says which action failed."""
        if isinstance(fault, DecodeError):
            return f"{what}: {self._program} sent an answer that cannot be read: {one_line(fault)}"
        if needs_login(fault):
            return f"{self._program} needs a login: {one_line(told(fault))}"
        return f"{what}: {one_line(told(fault))}"


def needs_login(fault: Exception) -> bool:
    """Return whether an agent refused something because the user is not logged in."""
    return isinstance(fault, RemoteError) and fault.code == AUTH_REQUIRED


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
