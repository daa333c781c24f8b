"""A real Neovim with a user at its keyboard: `Neovim`, which tests of the plugin use."""

import re
import time
from contextlib import suppress
from pathlib import Path

from tests.support.client import HEARTBEAT, TIMEOUT, Client, EditorError
from tests.support.launch import Launch
from tests.support.processes import command_line
from tests.support.rpc import ChannelClosed

ERROR = re.compile(r"\bE\d+:|^Error |stack traceback:|^Traceback ", re.MULTILINE)
INTERRUPT = re.compile(r"(?<=.)(?=<C-c>)", re.IGNORECASE | re.DOTALL)
SEEN = """
local messages = vim.api.nvim_exec2('messages', { output = true }).output
return { messages, vim.v.errmsg, vim.g.changed_windows or {} }
"""
"""What may be an error; autocommands that changed windows are of `support/autocommands`."""
PATIENCE = 30.0
"""Seconds in which processes that outlive Neovim must end by themselves: a host that hangs, and its
servers, are given six, and a busy machine takes longer."""


class Neovim(Client):
    """One Neovim and its user. A test that ends with errors sets `check_errors` to False."""

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self.check_errors = True

    def _attach(self, columns: int, lines: int) -> None:
        super()._attach(columns, lines)
        self.keys("")

    def input(self, keys: str) -> None:
        """Type keys in `<Key>` notation without waiting for their effect."""
        written = self.request("nvim_input", keys)
        assert written == len(keys.encode()), "more keys than Neovim's buffer takes: use paste"

    def paste(self, text: str) -> None:
        """Paste text as a terminal does, in the current mode."""
        self.request("nvim_paste", text, True, -1)
        self.keys("")

    def keys(self, keys: str, timeout: float = TIMEOUT) -> None:
        """Type keys and wait until Neovim has read them, or has stopped at a prompt.

        A request follows that Neovim answers only when it is idle. At a prompt that answer does not
        come; `blocked` says so, asked twice, as the first answer may be older than the keys. Before
        a Ctrl-C it waits until the other keys are read, because Neovim drops unread ones. A command
        is typed by a user who sees what Neovim has been sent: it answers nothing that came later.
        """
        if keys.startswith(":"):
            self._type("", timeout)
        for part in INTERRUPT.split(keys):
            self._type(part, timeout)

    def _type(self, keys: str, timeout: float) -> None:
        if keys:
            self.input(keys)
        channel, blocked = self.child.channel, 0
        marker, deadline = channel.send("nvim_eval", "0"), time.monotonic() + timeout
        while channel.take(marker) is None:
            if blocked == 2:
                channel.forget(marker)
                return
            if time.monotonic() > deadline:
                raise EditorError(self.explain(f"Neovim did not consume {keys!r}"))
            channel.pump(HEARTBEAT / 10)
            blocked = blocked + 1 if self.blocked() else 0

    def click(self, row: int, column: int, button: str = "left") -> None:
        """Press and release a mouse button at a cell of the screen."""
        for action in ("press", "release"):
            self.request("nvim_input_mouse", button, action, "", 0, row, column)
        self.keys("")

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the user's terminal and wait for the redraw."""
        self.request("nvim_ui_try_resize", columns, lines)
        self.wait_screen(lambda screen: (screen.width, screen.height) == (columns, lines))

    def leave_prompt(self) -> None:
        """Interrupt a prompt: `getchar()`, `input()`, "Press ENTER"."""
        for _ in range(5):
            mode = self.request("nvim_get_mode")
            if not mode["blocking"] and mode["mode"][0] not in "cr":
                return
            self.keys("<C-c>")
        raise EditorError(self.explain("Neovim does not leave its prompt"))

    def take_errors(self) -> list[str]:
        """Return the errors that the user has seen so far, and forget them."""
        found = self._errors()
        self.command("messages clear | let v:errmsg = '' | unlet! g:changed_windows")
        return found

    def assert_no_errors(self) -> None:
        """Fail if an error was shown, with the screen and all messages."""
        if errors := self._errors():
            raise AssertionError("\n".join([*errors, self.explain("Neovim showed errors")]))

    def _errors(self) -> list[str]:
        messages, last, changed = self.lua(SEEN)
        found = [line for line in messages.splitlines() if ERROR.search(line)]
        if last and not any(last in line for line in found):
            found.append(last)
        return [*found, *changed]

    def wait_log(self, text: str) -> str:
        """Wait until the plugin's log has a text, and return the log."""
        path = Path(self.lua("return require('eca.host.log').path()"))
        self.wait_for(lambda: path.exists() and text in path.read_text(), f"{text!r} in the log")
        return path.read_text()

    def quit(self, timeout: float = TIMEOUT) -> int:
        """Check for errors, quit with `:qa!` and wait; return the exit status."""
        if self.child.status is None:
            self.leave_prompt()
            if self.check_errors:
                self.assert_no_errors()
            self.child.channel.notify("nvim_command", "qa!")
        try:
            return self.child.wait(timeout)
        except TimeoutError as fault:
            raise TimeoutError(self.explain(str(fault))) from None

    def kill(self, number: int, timeout: float = TIMEOUT) -> int:
        """Send Neovim a signal and wait for its end; return its exit status."""
        self.child.signal(number)
        return self.child.wait(timeout)

    def finish(self) -> None:
        """End the test's Neovim; it must have shown no error, quit, and leave no process.

        Everything is cleaned up even if a check fails; the failure is raised at the end.
        """
        try:
            with suppress(ChannelClosed):
                self.quit()
        finally:
            self.child.close()
            left = {pid: command_line(pid) for pid in self.child.orphans(PATIENCE)}
            if left:
                self.child.end_orphans()
        assert not left, f"processes outlived Neovim: {left}"
