"""Requests: what the agent asks us, and who answers it: each exactly once, because agents wait."""

import logging

from eca_nvim.agents.acp.link import Link
from eca_nvim.agents.acp.requests.files import Files
from eca_nvim.agents.acp.requests.forms import Elicitations
from eca_nvim.agents.acp.requests.permissions import Permissions
from eca_nvim.agents.acp.requests.terminals import Terminals
from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.base import EditorServices
from eca_nvim.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Request
from eca_nvim.protocol.acp import (
    DecodeError,
    Unknown,
    client_requests,
    decode_agent_request,
    elicitation,
    tool_call,
)
from eca_nvim.transport import Guard

logger = logging.getLogger(__name__)


class AgentRequests:
    """Answers the requests of one agent process."""

    def __init__(
        self,
        link: Link,
        sessions: Sessions,
        permissions: Permissions,
        services: EditorServices,
        guard: Guard | None,
    ) -> None:
        self._link = link
        self._sessions = sessions
        self.permissions = permissions
        self.files = Files(link, permissions, services)
        self.elicitations = Elicitations(link)
        self.terminals = Terminals(link, permissions, guard)

    def start(self, request: Request) -> None:
        """Start to answer a request."""
        try:
            asked = decode_agent_request(request.method, request.params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("refused a request: %s", fault)
            self._link.refuse(request.id, INVALID_PARAMS, str(fault))
            return
        if isinstance(asked, Unknown):
            logger.debug("refused %s: it is not known here", asked.method)
            self._link.refuse(request.id, METHOD_NOT_FOUND, f"{asked.method} is not known here")
            return
        session = self._sessions.by_id.get(asked.session_id or "")
        if session is None and asked.session_id is not None:
            if not self._sessions.keep_early(asked.session_id, request):
                unknown = f"there is no session {asked.session_id}"
                self._link.refuse(request.id, INVALID_PARAMS, unknown)
            return
        if isinstance(asked, elicitation.CreateElicitation):
            self.elicitations.start(request.id, session, asked)
            return
        assert session is not None  # only an elicitation may be about none, as a login is
        if isinstance(asked, tool_call.RequestPermission):
            self.permissions.start(request.id, session, asked)
        elif isinstance(asked, client_requests.ReadTextFile | client_requests.WriteTextFile):
            self.files.start(request.id, session, asked)
        else:
            self.terminals.start(request.id, session, asked)

    def cancel(self, session: Session) -> None:
        """Answer the open requests of a session: its turn was stopped or has ended.

        The chat has closed them already. What waits for files ends with the user's questions.
        """
        with self._link.one_batch():
            self.permissions.cancel(session)
            self.elicitations.cancel(session)
            self.terminals.cancel(session)
