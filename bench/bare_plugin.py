"""The least that a remote plugin can be: one function, which answers."""

from __future__ import annotations

import pynvim


@pynvim.plugin
class BarePlugin:
    """What pynvim makes when the function is first called."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim

    @pynvim.function("BareAnswer", sync=True)  # type: ignore[untyped-decorator]
    def answer(self, _arguments: list[object]) -> str:
        """Answer."""
        return "ready"
