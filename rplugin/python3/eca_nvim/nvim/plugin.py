"""The remote plugin as pynvim's host sees it: one function, which takes all that a user does.

Rules kept here:
- Creating the plugin never fails (the host would drop its handlers for good) and costs nothing:
  everything else is imported at the first intent.
- No handler is synchronous: Neovim never waits for us.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import pynvim

if TYPE_CHECKING:
    from eca_nvim.nvim.app import App


YOUNG = 10_000
"""New objects until garbage is collected: more than one read from a server makes, for they all go
with it; at 700 a fast server's text took a tenth longer."""


BROKEN = "require('eca.host').broken(...)"
"""What tells Neovim that nothing can be done for it here."""


@pynvim.plugin
class EcaPlugin:
    """One Neovim's plugin; pynvim creates it when the first intent arrives."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self._app: App | None = None

    @pynvim.function("EcaIntent", sync=False)  # type: ignore[untyped-decorator]
    def intent(self, arguments: Sequence[object]) -> None:
        """Take an intent: its name and its payload (`eca_nvim.chat.vocabulary.intents`)."""
        app = self._app or self._start()
        if app is not None:
            app.receive(arguments)

    def _start(self) -> App | None:
        """Import all the rest; when that fails Neovim is told in one line, and does not wait."""
        try:
            app: App = import_module("eca_nvim.nvim.app").App(self._nvim)
        except Exception as broken:  # whatever an import may raise
            logging.getLogger(__name__).exception("cannot load the plugin")
            line = f"the plugin is broken, update it: {broken!r}"
            self._nvim.api.exec_lua(BROKEN, [line], async_=True)
            return None
        gc.freeze()  # what was imported stays; see `launch`
        gc.set_threshold(YOUNG)
        gc.enable()
        self._app = app
        return app
