"""The remote plugin as pynvim's host sees it: one function, which receives all intents."""

from __future__ import annotations

import gc
import logging
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import pynvim

if TYPE_CHECKING:
    from eca_nvim.nvim.app import App


GC_THRESHOLD = 10_000
"""New objects before garbage is collected: more than handling one read from a server creates,
because those are freed anyway. With Python's 700 a fast server's text took a tenth longer."""
OLDER_THRESHOLDS = (2, 2)
"""How many younger collections one of the older generations waits for: with Python's ten and ten
garbage of 60 MB waited for it."""


def collect_garbage() -> None:
    """Collect garbage from now on."""
    gc.freeze()  # imported modules are never garbage; see `launch`
    gc.set_threshold(GC_THRESHOLD, *OLDER_THRESHOLDS)
    gc.enable()


BROKEN = "require('eca.host').broken(...)"
"""Tells Neovim that the host cannot work."""


@pynvim.plugin
class EcaPlugin:
    """The plugin of one Neovim; pynvim creates it when the first intent arrives.

    That never fails, else pynvim would drop its handlers for good, and costs nothing: everything
    else is imported with the intent.
    """

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self._app: App | None = None

    @pynvim.function("EcaIntent", sync=False)  # type: ignore[untyped-decorator]
    def intent(self, arguments: tuple[str, Mapping[str, object]]) -> None:
        """Receive an intent: its name and its payload (`eca_nvim.chat.vocabulary.intents`)."""
        app = self._app or self._start()
        if app is not None:
            app.receive(*arguments)

    def _start(self) -> App | None:
        """Import everything else; if that fails, report it to Neovim in one line."""
        try:
            app: App = import_module("eca_nvim.nvim.app").App(self._nvim)
        except Exception as broken:  # whatever an import may raise
            logging.getLogger(__name__).exception("cannot load the plugin")
            line = f"the plugin is broken, update it: {broken!r}"
            self._nvim.api.exec_lua(BROKEN, [line], async_=True)
            return None
        collect_garbage()
        self._app = app
        return app
