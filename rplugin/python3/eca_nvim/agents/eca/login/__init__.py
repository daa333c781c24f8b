"""Login: the providers of an ECA server, and logging in to them and to its MCP servers."""

from eca_nvim.agents.eca.login.providers import EcaProviders
from eca_nvim.agents.eca.login.steps import ProviderLogins, ToolServerLogins

__all__ = ["EcaProviders", "ProviderLogins", "ToolServerLogins"]
