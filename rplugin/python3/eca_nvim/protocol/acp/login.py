"""Login and logout of an agent."""

from typing import ClassVar

from eca_nvim.protocol.base.types import Request


class AuthenticateParams(Request[None], frozen=True):
    """Log in by a way of the agent, which it does by itself."""

    method: ClassVar[str] = "authenticate"

    method_id: str


class LogoutParams(Request[None], frozen=True):
    """Log out, for agents with the capability."""

    method: ClassVar[str] = "logout"
