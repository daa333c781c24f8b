"""Options: what can be set in a session: options, or the modes and models of older agents."""

from eca_nvim.protocol.base.types import Request, Wire

BOOLEAN = "boolean"
"""The type of an option that is on or off; a value of it is sent with this type."""


class PlainOffer(Wire, frozen=True):
    """A value of an option."""

    value: str = ""
    name: str = ""
    description: str | None = None


class Offer(PlainOffer, frozen=True, kw_only=True):
    """A value of an option, or a group of them: a group has `options` and no value."""

    group: str | None = None
    options: tuple[PlainOffer, ...] = ()


class ConfigOption(Wire, frozen=True, kw_only=True):
    """An option: one of `options`, or for the type boolean on or off."""

    id: str
    name: str = ""
    description: str | None = None
    category: str | None = None
    type: str = "select"
    current_value: str | bool = ""
    options: tuple[Offer, ...] = ()


class Mode(Wire, frozen=True):
    """A mode: how freely the agent works."""

    id: str
    name: str = ""
    description: str | None = None


class Modes(Wire, frozen=True):
    """All modes, and the one that is set."""

    current_mode_id: str
    available_modes: tuple[Mode, ...] = ()


class Model(Wire, frozen=True):
    """A model."""

    model_id: str
    name: str = ""
    description: str | None = None


class Models(Wire, frozen=True):
    """All models, and the one that is set."""

    current_model_id: str
    available_models: tuple[Model, ...] = ()


class SetMode(Request[None], frozen=True):
    """Set the mode."""

    method = "session/set_mode"
    session_id: str
    mode_id: str


class SetModel(Request[None], frozen=True):
    """Set the model; only for agents that list models instead of options."""

    method = "session/set_model"
    session_id: str
    model_id: str


class OptionsResult(Wire, frozen=True):
    """All options after one was set: others may have changed with it."""

    config_options: tuple[ConfigOption, ...] | None = None


class SetConfigOption(Request[OptionsResult], frozen=True):
    """Set an option; `type` is `boolean` for a value that is one."""

    method = "session/set_config_option"
    session_id: str
    config_id: str
    value: str | bool
    type: str | None = None
