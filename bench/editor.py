"""A Neovim with a user interface attached, started and ended as in the tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from tests.support.child import Child
from tests.support.launch import Launch
from tests.support.rpc import ChannelClosed

from bench.screen import ScreenWatch, Value

COLUMNS, LINES = 160, 45
PATIENCE = 60.0
"""Seconds after which a missing event is a failure."""
BEAT = 0.01


class Unmeasurable(Exception):
    """Raised if something to be measured did not happen; says what."""


class Editor:
    """One Neovim process and its screen. `environment`: variables besides those of the tests."""

    def __init__(
        self,
        version: str,
        home: Path,
        settings: Mapping[str, Value],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.project = cwd = home / "project"
        cwd.mkdir(parents=True)
        self.screen = ScreenWatch()
        launch = Launch(
            *(version, home, cwd),
            marker=str(home),
            columns=COLUMNS,
            lines=LINES,
            settings=settings,
            environment=environment or {},
        )
        self.child = Child(launch, self._notified)
        options = {"rgb": True, "ext_linegrid": True}
        self.request("nvim_ui_attach", COLUMNS, LINES, options)
        self.wait(lambda: self.screen.flushes > 0, "the first screen")

    def _notified(self, method: str, parameters: list[Value]) -> None:
        if method == "redraw":
            self.screen.apply(parameters)

    def request(self, method: str, *parameters: Value, timeout: float = PATIENCE) -> Value:
        """Call an API function. Raises Unmeasurable if it fails."""
        deadline = time.monotonic() + timeout
        response = self.child.channel.request(method, *parameters, deadline=deadline)
        if response is None or response.error is not None:
            raise Unmeasurable(f"{method}: {response.error if response else 'no answer'}")
        return response.result

    def lua(self, code: str, *arguments: Value) -> Value:
        """Run a chunk of Lua and return what it returns."""
        return self.request("nvim_exec_lua", code, arguments)

    def run_file(self, path: Path, function: str, *arguments: Value) -> Value:
        """Call a function of a Lua module, which is loaded once from its file."""
        code = """
            local path, name = ...
            package.loaded[path] = package.loaded[path] or dofile(path)
            return package.loaded[path][name](select(3, ...))"""
        return self.lua(code, str(path), function, *arguments)

    def wait(self, condition: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
        """Read what Neovim sends until a condition is true. Raises Unmeasurable."""
        deadline = time.monotonic() + patience
        while not condition():
            if time.monotonic() > deadline:
                raise Unmeasurable(f"still waiting for {what}\n{self.explain()}")
            self.child.channel.pump(BEAT)

    def wait_lua(self, expression: str, what: str) -> None:
        """Wait until a Lua expression is true. Raises Unmeasurable."""
        self.wait(lambda: bool(self.lua(f"return {expression}")), what)

    def explain(self) -> str:
        """Return the text of all windows and the messages, for people to read."""
        return str(
            self.lua("""
                local shown = { vim.fn.execute('messages') }
                for _, win in ipairs(vim.api.nvim_list_wins()) do
                  local buf = vim.api.nvim_win_get_buf(win)
                  local lines = vim.api.nvim_buf_get_lines(buf, 0, 60, false)
                  vim.list_extend(shown, { '--- window ' .. win, unpack(lines) })
                end
                return table.concat(shown, '\\n')""")
        )

    def close(self) -> None:
        """End Neovim and all that it started."""
        try:
            with suppress(ChannelClosed, TimeoutError):
                self.child.channel.notify("nvim_command", "qa!")
                self.child.wait(2.0)
        finally:
            self.child.close()
            self.child.orphans(2.0)
            self.child.end_orphans()
