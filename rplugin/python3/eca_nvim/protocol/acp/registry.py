"""Registry: the notifications and requests of an agent."""

from collections.abc import Mapping
from typing import TypeAlias, get_args

from eca_nvim.protocol.acp.elicitation import CreateElicitation, ElicitationCompleted
from eca_nvim.protocol.acp.files import ReadTextFile, WriteTextFile
from eca_nvim.protocol.acp.lifecycle import CancelRequest
from eca_nvim.protocol.acp.permission import RequestPermission
from eca_nvim.protocol.acp.updates import SessionUpdated

AgentNotification: TypeAlias = SessionUpdated | CancelRequest | ElicitationCompleted
AgentRequest: TypeAlias = RequestPermission | ReadTextFile | WriteTextFile | CreateElicitation

AGENT_NOTIFICATIONS: Mapping[str, type] = {
    kind.method: kind for kind in get_args(AgentNotification)
}
AGENT_REQUESTS: Mapping[str, type] = {kind.method: kind for kind in get_args(AgentRequest)}
