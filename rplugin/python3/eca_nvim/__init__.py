"""The Python half of the plugin: a remote plugin of Neovim, and a client of coding agents.

Rule: the plugin's class is imported only when it is accessed. pynvim's host looks for it here; the
demo agent, the tests and all other packages import this one without pynvim.
"""

from importlib import import_module

PLUGIN = "EcaPlugin"


def __getattr__(name: str) -> object:
    """Import the plugin class when it is first accessed (PEP 562)."""
    if name != PLUGIN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module("eca_nvim.nvim.plugin"), name)
    return found


def __dir__() -> list[str]:
    """List the plugin class too: the host discovers it with `inspect.getmembers`."""
    return [*globals(), PLUGIN]
