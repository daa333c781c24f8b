"""Makes the session's agents: ECA servers, found as the settings say."""

from __future__ import annotations

from collections.abc import Callable

from eca_nvim.agents.base import AgentFault, EditorServices, Workspace
from eca_nvim.agents.eca.agent import EcaAgent, EcaOptions
from eca_nvim.nvim.guardian_process import Guardian
from eca_nvim.nvim.head_start import HeadStart
from eca_nvim.nvim.settings import Settings
from eca_nvim.server.find import BadServerOption, ServerCommand, find_server
from eca_nvim.session import Candidate


class EcaAgents:
    """Makes ECA agents (`session.MakeAgent`); changed `settings` apply to the next one.

    `last_agent` returns the agent last chosen in this project: a server begins with it.
    `head_start` is a server that is running already, used for the first agent; there is none if
    Neovim wants the demo agent.
    """

    def __init__(
        self,
        settings: Settings,
        workspace: Workspace,
        services: EditorServices,
        guardian: Guardian,
        last_agent: Callable[[], str | None],
        head_start: HeadStart | None,
    ) -> None:
        self.settings = settings
        self._head_start = head_start
        self._guardian = guardian
        self._last_agent = last_agent
        self._workspace = workspace
        self._services = services

    def __call__(self, *, demo: bool) -> Candidate:
        """Use the server that is running already, or find one to start. Raises AgentFault."""
        early, self._head_start = self._head_start, None
        found = self._find(demo=demo) if early is None else early.server
        options = EcaOptions(
            found.command,
            found.environment,
            process=None if early is None else early.process,
            agent=None if demo else self._last_agent(),
            diagnostics_base=self.settings.diagnostics_base,
            repo_map=self.settings.repo_map,
            guard=self._guardian.watch,
            see_off=self._guardian.let_servers_exit,
        )
        agent = EcaAgent(options, self._workspace, self._services)
        return Candidate(agent, found.label, found.identity, found.folder)

    def _find(self, *, demo: bool) -> ServerCommand:
        settings = self.settings
        try:
            return find_server(settings.server_command, settings.server_environment, demo=demo)
        except BadServerOption as fault:
            raise AgentFault(str(fault)) from fault
