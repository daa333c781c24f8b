"""Registry: the notifications and requests of an agent."""

from collections.abc import Mapping
from typing import TypeAlias, get_args

from eca_nvim.protocol.acp.elicitation import CreateElicitation, ElicitationCompleted
from eca_nvim.protocol.acp.files import ReadTextFile, WriteTextFile
from eca_nvim.protocol.acp.lifecycle import CancelRequest
from eca_nvim.protocol.acp.permission import RequestPermission
from eca_nvim.protocol.acp.terminal import (
    CreateTerminal,
    KillTerminal,
    ReadOutput,
    ReleaseTerminal,
    WaitForExit,
)
from eca_nvim.protocol.acp.updates import SessionUpdated

AgentNotification: TypeAlias = SessionUpdated | CancelRequest | ElicitationCompleted
TerminalRequest: TypeAlias = (
    CreateTerminal | ReadOutput | WaitForExit | KillTerminal | ReleaseTerminal
)
AgentRequest: TypeAlias = (
    RequestPermission | ReadTextFile | WriteTextFile | CreateElicitation | TerminalRequest
)

AGENT_NOTIFICATIONS: Mapping[str, type] = {
    kind.method: kind for kind in get_args(AgentNotification)
}
AGENT_REQUESTS: Mapping[str, type] = {kind.method: kind for kind in get_args(AgentRequest)}
