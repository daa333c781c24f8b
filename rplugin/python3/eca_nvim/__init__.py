"""The Python half of the plugin: a remote plugin of Neovim, and a client of coding agents.

Rules kept here:
- pynvim's host looks for plugin classes among the members of this module. The class is offered by
  name and imported when somebody looks at it, so that the demo agent, the tests and every other
  layer import this package without pynvim.
"""

from __future__ import annotations

from importlib import import_module

PLUGIN = "EcaPlugin"


def __getattr__(name: str) -> object:
    """Import the plugin class at the first look (PEP 562)."""
    if name != PLUGIN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module("eca_nvim.nvim.plugin"), name)
    return found


def __dir__() -> list[str]:
    """List the plugin class too: the host discovers it with `inspect.getmembers`."""
    return [*globals(), PLUGIN]
