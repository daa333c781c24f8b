"""Providers: the companies and programs that offer models, and logging in to one step by step."""

from typing import Any, TypeAlias

import msgspec

from eca_nvim.protocol.base.types import Int, Notification, Request, UnknownPart, Wire


class ProviderAuth(Wire, frozen=True, kw_only=True):
    """The login of a provider.

    `status`: authenticated, expiring, expired, unauthenticated, local or not-running; `type`:
    oauth or api-key; `source`: config, login or env; `expires_at`: seconds since 1970.
    """

    status: str | None = None
    type: str | None = None
    source: str | None = None
    mode: str | None = None
    expires_at: Int | None = None
    env_var: str | None = None


class LoginMethod(Wire, frozen=True, kw_only=True):
    """A way to log in."""

    key: str
    label: str | None = None


class LoginMethods(Wire, frozen=True, kw_only=True):
    """The ways to log in to a provider."""

    methods: tuple[LoginMethod, ...] = ()


class ModelCapabilities(Wire, frozen=True, kw_only=True):
    """The abilities of a model; None if unknown."""

    reason: bool | None = None
    vision: bool | None = None
    tools: bool | None = None
    web_search: bool | None = None
    image_generation: bool | None = None


class ModelCost(Wire, frozen=True, kw_only=True):
    """Cost in dollars per token: 1e-06 is 1 $ per million, though the documents say per million."""

    input: float | None = None
    output: float | None = None


class ProviderModel(Wire, frozen=True, kw_only=True):
    """A model of a provider; `id` is its name without the provider's."""

    id: str
    capabilities: ModelCapabilities | None = None
    cost: ModelCost | None = None
    settings: dict[str, Any] | None = None


class Provider(Wire, frozen=True, kw_only=True):
    """A provider; `configured`: the config has it."""

    id: str
    label: str | None = None
    configured: bool | None = None
    auth: ProviderAuth | None = None
    login: LoginMethods | None = None
    models: tuple[ProviderModel, ...] = ()
    settings: dict[str, Any] | None = None


class ProvidersUpdated(Provider, Notification, frozen=True, kw_only=True):
    """A provider's login or models changed; contains the whole provider."""

    method = "providers/updated"


class ProvidersListResult(Wire, frozen=True, kw_only=True):
    """All providers."""

    providers: tuple[Provider, ...] = ()


class ProvidersListParams(Request[ProvidersListResult], frozen=True):
    """List all providers."""

    method = "providers/list"


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

    method = "providers/login"
    provider: str
    login_method: str | None = msgspec.field(name="method", default=None)


class ProvidersLoginInputParams(Request[LoginAction], frozen=True, kw_only=True):
    """Send what the user typed, by the keys of the fields."""

    method = "providers/loginInput"
    provider: str
    data: dict[str, str]


class ProvidersLogoutParams(Request[None], frozen=True, kw_only=True):
    """Forget the credentials of a provider."""

    method = "providers/logout"
    provider: str
