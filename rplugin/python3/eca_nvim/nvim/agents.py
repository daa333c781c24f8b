"""Which agent a session starts: an ECA server, found as the settings say."""

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
    """Makes ECA agents (`session.MakeAgent`); `settings` hold for those to come.

    `last_agent` gives the agent that was last chosen in this project: a server begins with it.
    `ahead` is the server that runs already, for the first of them: Neovim wants none ahead of the
    demo agent.
    """

    def __init__(
        self,
        settings: Settings,
        workspace: Workspace,
        services: EditorServices,
        guardian: Guardian,
        last_agent: Callable[[], str | None],
        ahead: HeadStart | None,
    ) -> None:
        self.settings = settings
        self._ahead = ahead
        self._guardian = guardian
        self._last_agent = last_agent
        self._workspace = workspace
        self._services = services

    def __call__(self, *, demo: bool) -> Candidate:
        """Take the server that runs already, or find one to start. Raises AgentFault."""
        ahead, self._ahead = self._ahead, None
        found = self._find(demo=demo) if ahead is None else ahead.server
        options = EcaOptions(
            found.command,
            found.environment,
            process=None if ahead is None else ahead.process,
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
