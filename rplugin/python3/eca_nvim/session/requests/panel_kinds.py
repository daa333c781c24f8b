"""Kinds: the panels, by the subcommands that show them; loaded with the first one."""

from collections.abc import Mapping
from typing import Final

from eca_nvim.session.panels.checkpoints import CheckpointsPanel
from eca_nvim.session.panels.dashboard import DashboardPanel
from eca_nvim.session.panels.jobs import JobsPanel
from eca_nvim.session.panels.mcp import McpPanel
from eca_nvim.session.panels.memory import MemoryPanel
from eca_nvim.session.panels.panel import Panel
from eca_nvim.session.panels.providers import ProvidersPanel
from eca_nvim.session.panels.servers import ServersPanel
from eca_nvim.session.panels.tools import ToolsPanel
from eca_nvim.session.panels.trace import TracePanel

KINDS: Final[Mapping[str, type[Panel]]] = {
    "dashboard": DashboardPanel,
    "checkpoints": CheckpointsPanel,
    "jobs": JobsPanel,
    "mcp": McpPanel,
    "tools": ToolsPanel,
    "providers": ProvidersPanel,
    "memory": MemoryPanel,
    "trace": TracePanel,
    "server": ServersPanel,
}
