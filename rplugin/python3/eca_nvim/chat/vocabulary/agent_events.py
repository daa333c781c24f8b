"""Agent events: what an agent reports about itself. A value that it omits is None: unchanged."""

from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary import bases, turn_events

AgentEvent: TypeAlias = bases.AgentEvent


class TrustWanted(AgentEvent, frozen=True):
    """Whether the agent's configuration wants tools to run without asking (ECA: selectTrust).

    No event switches trust on: the user is asked.
    """

    wanted: bool


class Welcomed(AgentEvent, frozen=True):
    """What the agent says in a chat without messages (ECA: welcomeMessage)."""

    text: str


class WorkChanged(AgentEvent, frozen=True):
    """A background activity of the agent (ECA: $/progress)."""

    id: str
    title: str
    done: bool


class MessageShown(AgentEvent, frozen=True):
    """A message for the user (ECA: $/showMessage); level is error, warn or info."""

    level: str
    text: str


class JobsChanged(AgentEvent, frozen=True):
    """All commands in the background that the agent knows, also ended ones (ECA: jobs/updated)."""

    jobs: tuple[turn_events.Job, ...]


class MemoryLoaded(AgentEvent, frozen=True):
    """How many of all that is remembered the prompts of a chat have (ECA: memory/indexLoaded)."""

    chat_id: str
    count: int
    total: int


class Tool(Struct, frozen=True):
    """A tool that a model may call; texts are the server's own.

    parameters: a JSON schema, as received. disabled: for the agent that is selected.
    """

    name: str
    description: str = ""
    parameters: object = None
    disabled: bool = False


class ToolServerState(StrEnum):
    """What a tool server does; those of the wire by its names, and three of ours.

    UNKNOWN: nothing told yet. RESTARTING: the agent starts it again after a change that worked.
    LOGGING_IN: it waits for the user's login in a browser.
    """

    UNKNOWN = "unknown"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"
    DISABLED = "disabled"
    NEEDS_LOGIN = "requires-auth"
    RESTARTING = "restarting"
    LOGGING_IN = "logging in"
    LOGGING_OUT = "logging out"


class Offered(Struct, frozen=True):
    """A prompt or a resource that a tool server offers; texts are the server's own."""

    name: str
    description: str = ""


class ToolServerChanged(AgentEvent, frozen=True):
    """All that is known of a tool server (ECA: tool/serverUpdated, tool/serverRemoved).

    kind: mcp, or native for the agent's own tools. None: not told yet. command: the program and its
    arguments, () for one with a url. disabled: in the configuration. has_login: it can be logged in
    to, or out of. error: why it failed, not redacted. since: `time.monotonic` of the state's begin.
    """

    name: str
    status: ToolServerState = ToolServerState.UNKNOWN
    kind: str | None = None
    tools: tuple[Tool, ...] | None = None
    removed: bool = False
    prompts: tuple[Offered, ...] = ()
    resources: tuple[Offered, ...] = ()
    command: tuple[str, ...] = ()
    url: str = ""
    disabled: bool = False
    has_login: bool = False
    error: str = ""
    since: float = 0.0


class ProviderState(StrEnum):
    """Whether a provider can be used, in words."""

    LOGGED_IN = "logged in"
    EXPIRING = "expires soon"
    LOCAL = "runs here"
    EXPIRED = "login expired"
    LOGGED_OUT = "not logged in"
    NOT_RUNNING = "not running"
    UNKNOWN = "not known"


USABLE: Final = frozenset({ProviderState.LOGGED_IN, ProviderState.EXPIRING, ProviderState.LOCAL})
"""States of providers whose models answer."""


class Model(Struct, frozen=True):
    """A model of a provider; `value`: what sets it as the option `model` of a chat.

    can: what it is able to do, each in words. prices: of what it reads and of what it writes, in
    dollars per million tokens; None: not known.
    """

    name: str
    value: str
    can: tuple[str, ...] = ()
    prices: tuple[float, float] | None = None


class Provider(Struct, frozen=True):
    """Who offers models: a company or a program. Texts are the agent's own.

    source: where its key comes from: config, login, env, or "". variable: the one that has it.
    expires: seconds since 1970. ways: how the user can log in; none: there is no login.
    """

    id: str
    name: str
    state: ProviderState = ProviderState.UNKNOWN
    source: str = ""
    variable: str = ""
    kind: str = ""
    expires: float | None = None
    address: str = ""
    ways: tuple[str, ...] = ()
    models: tuple[Model, ...] = ()


class ProvidersChanged(AgentEvent, frozen=True):
    """All providers, once it is known which there are (ECA: providers/list, providers/updated)."""

    providers: tuple[Provider, ...]
