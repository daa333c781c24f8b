"""Providers: the companies and programs that offer models."""

from typing import Any, ClassVar

from eca_nvim.protocol.base.types import Int, Notification, Request, Wire


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
    """Cost in dollars per million tokens."""

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

    method: ClassVar[str] = "providers/updated"


class ProvidersListResult(Wire, frozen=True, kw_only=True):
    """All providers."""

    providers: tuple[Provider, ...] = ()


class ProvidersListParams(Request[ProvidersListResult], frozen=True):
    """List all providers."""

    method: ClassVar[str] = "providers/list"
