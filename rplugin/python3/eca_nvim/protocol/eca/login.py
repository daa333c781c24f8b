"""Login to a provider: the server sends the next step until the login is done."""

from typing import ClassVar, TypeAlias

import msgspec

from eca_nvim.protocol.base.types import Request, UnknownPart, Wire
from eca_nvim.protocol.eca.providers import LoginMethod


class InputField(Wire, frozen=True, kw_only=True):
    """Something to ask the user for; `type` is secret or text."""

    key: str
    label: str | None = None
    type: str | None = None


class ChooseMethod(Wire, frozen=True, kw_only=True, tag_field="action", tag="choose-method"):
    """Let the user choose a login method, then send the login again with it."""

    methods: tuple[LoginMethod, ...] = ()


class Authorize(Wire, frozen=True, kw_only=True, tag_field="action", tag="authorize"):
    """Open a page; ask the user for `fields`, or without them wait for `ProvidersUpdated`."""

    url: str = ""
    message: str | None = None
    fields: tuple[InputField, ...] | None = None


class DeviceCode(Wire, frozen=True, kw_only=True, tag_field="action", tag="device-code"):
    """Show a code that the user types into a page; `ProvidersUpdated` follows."""

    url: str = ""
    code: str = ""
    message: str | None = None


class AskInput(Wire, frozen=True, kw_only=True, tag_field="action", tag="input"):
    """Ask the user for some fields and send them."""

    fields: tuple[InputField, ...] = ()


class LoginDone(Wire, frozen=True, tag_field="action", tag="done"):
    """The user is logged in."""


class UnknownLoginAction(UnknownPart, frozen=True, tag_field="action", tag=""):
    """A step this client does not know."""


LoginAction: TypeAlias = (
    ChooseMethod | Authorize | DeviceCode | AskInput | LoginDone | UnknownLoginAction
)


class ProvidersLoginParams(Request[LoginAction], frozen=True, kw_only=True):
    """Start to log in; without a `login_method` the response may be `ChooseMethod`."""

    method: ClassVar[str] = "providers/login"

    provider: str
    login_method: str | None = msgspec.field(name="method", default=None)


class ProvidersLoginInputParams(Request[LoginAction], frozen=True, kw_only=True):
    """Send what the user typed, by the keys of the fields."""

    method: ClassVar[str] = "providers/loginInput"

    provider: str
    data: dict[str, str]


class ProvidersLogoutParams(Request[None], frozen=True, kw_only=True):
    """Forget the credentials of a provider."""

    method: ClassVar[str] = "providers/logout"

    provider: str
