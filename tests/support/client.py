"""A Neovim with an attached UI: requests with deadlines, its screen, and waiting: `Client`.

Every wait has a deadline and wakes up when Neovim sends something; a failed wait shows the whole
screen. Neovim answers most requests only between commands, so they would hang at an open prompt.
"""

import os
import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

from tests.support.child import Child
from tests.support.launch import Launch
from tests.support.rpc import Response
from tests.support.screen import Screen, ScreenModel, Value

TIMEOUT = float(os.environ.get("PATIENCE", "60"))
"""Seconds until a wait fails: far longer than anything takes, for a busy machine. Who works on a
test may set less: each wait that fails takes all of it."""
HEARTBEAT = 0.05
"""Seconds between two checks of a condition if nothing arrives."""

Result = TypeVar("Result")
Wanted = str | re.Pattern[str] | Callable[[Screen], object]


class EditorError(AssertionError):
    """Raised if Neovim answers a request with an error, or too late."""


class Client:
    """One Neovim process and its screen. `notifications` has all that it sent, without redraws."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.notifications: list[tuple[str, list[Value]]] = []
        self._model = ScreenModel()
        self.child = Child(launch, self._notified)
        with ExitStack() as undo:
            undo.callback(self.child.end_orphans)
            undo.callback(self.child.close)
            self._attach(launch.columns, launch.lines)
            undo.pop_all()

    def _attach(self, columns: int, lines: int) -> None:
        """Neovim reads no settings and draws nothing before a UI is attached."""
        options = {"rgb": True, "ext_linegrid": True, "ext_hlstate": True}
        self.request("nvim_ui_attach", columns, lines, options)
        self.wait_for(lambda: self._model.flushes, "Neovim's first screen")

    def _notified(self, method: str, parameters: list[Value]) -> None:
        if method == "redraw":
            self._model.apply(parameters)
        else:
            self.notifications.append((method, parameters))

    @property
    def pid(self) -> int:
        """Process id of Neovim itself."""
        return self.child.pid

    @property
    def screen(self) -> Screen:
        """What the user sees, as of the last `flush` that was read."""
        return self._model.screen

    @property
    def drawn(self) -> frozenset[str]:
        """All characters that any cell has ever shown."""
        return frozenset(self._model.drawn)

    @property
    def mode(self) -> str:
        """Neovim's short name of the mode (`n`, `i`, `no`, `r?` …); works inside prompts, too."""
        mode: str = self.request("nvim_get_mode")["mode"]
        return mode

    def blocked(self) -> bool:
        """Return whether Neovim waits for a key inside a command, as in prompts and mappings."""
        blocking: bool = self.request("nvim_get_mode")["blocking"]
        return blocking

    def request(self, method: str, *parameters: Value, timeout: float = TIMEOUT) -> Value:
        """Call an API function. Raises EditorError if it fails or takes too long."""
        channel = self.child.channel
        response = channel.request(method, *parameters, deadline=time.monotonic() + timeout)
        return self._result(response, method)

    def _result(self, response: Response | None, method: str) -> Value:
        if response is None:
            raise EditorError(self.explain(f"Neovim did not answer {method}"))
        if response.error is not None:
            raise EditorError(f"{method}: {response.error[1]}")
        return response.result

    def lua(self, code: str, *arguments: Value, timeout: float = TIMEOUT) -> Value:
        """Run a chunk of Lua (`...` are the arguments) and return what it returns."""
        return self.request("nvim_exec_lua", code, arguments, timeout=timeout)

    def command(self, command: str, timeout: float = TIMEOUT) -> str:
        """Run Ex commands, one per line, and return what they printed."""
        output = self.request("nvim_exec2", command, {"output": True}, timeout=timeout)
        return str(output["output"])

    def eval(self, expression: str, timeout: float = TIMEOUT) -> Value:
        """Evaluate a Vimscript expression."""
        return self.request("nvim_eval", expression, timeout=timeout)

    def wait_for(
        self, condition: Callable[[], Result | None], what: str, timeout: float = TIMEOUT
    ) -> Result:
        """Wait until a Python condition is true and return its value.

        It is checked whenever Neovim sends something, and at each heartbeat.
        """
        deadline = time.monotonic() + timeout
        while not (value := condition()):
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(self.explain(f"still waiting for {what} after {timeout} s"))
            self.child.channel.pump(min(left, HEARTBEAT))
        return value

    def wait_screen(self, wanted: Wanted, timeout: float = TIMEOUT) -> Screen:
        """Wait until the screen shows a text or pattern, or a predicate is true; return it."""
        match wanted:
            case str(text):
                self.wait_for(lambda: text in self.screen, f"{text!r} on the screen", timeout)
            case re.Pattern():
                name = f"{wanted.pattern!r} on the screen"
                self.wait_for(lambda: wanted.search(self.screen.text()), name, timeout)
            case _:
                self.wait_for(lambda: wanted(self.screen), "the screen to be right", timeout)
        return self.screen

    def wait_until(self, expression: str, timeout: float = TIMEOUT) -> Value:
        """Wait until a Lua expression is neither nil nor false; return its value."""
        deadline = time.monotonic() + timeout

        def ask() -> tuple[Value] | None:
            """Wrap the value: 0 and "" are true in Lua, and false in Python."""
            left = max(HEARTBEAT, deadline - time.monotonic())
            value = self.lua(f"return {expression}", timeout=left)
            return None if value is None or value is False else (value,)

        return self.wait_for(ask, f"Lua {expression!r}", timeout)[0]

    def messages(self) -> str:
        """Return the output of `:messages`."""
        return self.command("messages")

    def buffer_lines(self, buffer: int = 0) -> list[str]:
        """Return the text of a buffer, by default of the current one."""
        lines: list[str] = self.request("nvim_buf_get_lines", buffer, 0, -1, True)
        return lines

    def explain(self, complaint: str) -> str:
        """Return a complaint, followed by the screen, its mode and cursor, and the messages."""
        return f"{complaint}\n{self.screen.bordered()}\n:messages\n{self._messages_if_idle()}"

    def _messages_if_idle(self) -> str:
        """Ask without `request`, which calls this when it fails."""
        if self.child.status is not None:
            return f"(Neovim exited with {self.child.status})\n{self.child.stderr()}"
        channel, deadline = self.child.channel, time.monotonic() + 10
        mode = channel.request("nvim_get_mode", deadline=deadline)
        if mode is None or mode.result["blocking"]:
            return "(not told: Neovim is busy or waits in a prompt)"
        told = channel.request("nvim_exec2", "messages", {"output": True}, deadline=deadline)
        return str(told.result["output"]) if told and told.result else "(not told)"
