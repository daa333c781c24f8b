"""Command: one that an agent runs in a terminal of ours, as the agent and the chat learn of it."""

import codecs
import signal
from shlex import quote
from typing import Final

from eca_nvim.agents.acp.link import UNREAD, Link
from eca_nvim.agents.acp.requests import acts
from eca_nvim.agents.acp.requests.acts import Act
from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.updates.screens import Screen
from eca_nvim.jsonrpc import MessageId
from eca_nvim.path_risks import real_path
from eca_nvim.protocol.acp.client_requests import ExitStatus, OutputSoFar
from eca_nvim.transport import Exit
from eca_nvim.transport.pipes import Printed
from eca_nvim.transport.terminal import Terminal

MOST_BYTES: Final = 1 << 22
"""Bytes of output that are kept for the agent, at most."""
SHOWN_BYTES: Final = 1 << 18
"""Bytes of output that are kept for the chat."""
MOST_WAITS: Final = 100
"""Requests that wait for the end of a command, at most."""


class Command(Screen):
    """A command; `limit`: so many bytes of output the agent wants to read, None if it says nothing.

    Listens to its terminal.
    """

    def __init__(self, session: Session, act: Act, limit: int | None, link: Link) -> None:
        super().__init__(_line(act, real_path(session.folder)))
        self.session = session
        self.terminal: Terminal | None = None
        self.status: ExitStatus | None = None
        """How it ended; None while it runs."""
        self._act = act
        self._limit = MOST_BYTES if limit is None else min(max(0, limit), MOST_BYTES)
        self._printed = Printed(max(self._limit, SHOWN_BYTES))
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._last = ""
        self._link = link
        self._waits: list[MessageId] = []
        self._is_settled = False  # which call shows it, unless the agent embeds it in another one

    def text(self) -> str:
        """Return the end of what it has printed, and how it ended if it failed."""
        return self._printed.text(SHOWN_BYTES)[0] + self._last

    def output(self, request_id: MessageId) -> None:
        """Answer a request by what the command has printed."""
        if self._link.is_full:
            self._link.refuse_excess(request_id, UNREAD)
            return
        text, is_cut = self._printed.text(self._limit)
        self._link.respond(request_id, OutputSoFar(text, is_cut, self.status))

    def wait(self, request_id: MessageId) -> None:
        """Answer a request when the command has ended."""
        if self.status is not None:
            self._link.respond(request_id, self.status)
        elif len(self._waits) >= MOST_WAITS:
            self._link.refuse_excess(request_id, "too many requests wait")
        else:
            self._waits.append(request_id)

    def wait_no_longer(self, request_id: MessageId) -> bool:
        """Forget a request that waits; returns whether there was one."""
        waits = request_id in self._waits
        if waits:
            self._waits.remove(request_id)
        return waits

    def end(self) -> None:
        """Begin to end it."""
        if self.terminal is not None:
            self.terminal.end()

    def released(self) -> None:
        """Keep no more of the output than the chat shows: the agent reads no more."""
        self._printed.shrink(SHOWN_BYTES)

    def show(self, call_id: str, *, is_ours: bool) -> None:
        """Show it in a call, by the agent's id."""
        self._is_settled = True
        self.own_call = call_id if is_ours else None
        self.session.say(*self.session.inbox.calls.show(self, call_id))

    def show_alone(self) -> None:
        """Show it in a call of ours, once, if no call shows it."""
        if not self._is_settled and self.call is None:
            call_id = acts.new_call_id()
            acts.begin(self.session, self._act, call_id)
            self.show(call_id, is_ours=True)
            self._end_own_call()

    # --- what its terminal says -----------------------------------------------------------------

    def printed(self, data: bytes) -> None:
        """Take the next piece of its output."""
        self._printed.add(data)
        self._show(self._decoder.decode(data))

    def awaits_input(self, *, waits: bool) -> None:
        """Note that it waits for input, or does so no longer."""
        self._show("", awaits_input=waits)

    def ended(self, ending: Exit) -> None:
        """Answer who waits for the end, and show it in the chat if it was a failure."""
        self.status = _status(ending)
        for request_id in self._waits:
            self._link.respond(request_id, self.status)
        self._waits.clear()
        rest = self._decoder.decode(b"", final=True)
        if ending.code != 0:
            last = self._printed.text(4)[0][-1:]  # a character has at most four bytes
            break_ = "" if last in ("", "\n") else "\n"
            self._last = f"{break_}[{ending}]\n"
        self._show(rest + self._last)
        self._end_own_call()

    def _end_own_call(self) -> None:
        if self.own_call is not None and self.status is not None:
            acts.end(self.session, self.own_call, failed=self.status.exit_code != 0)

    def _show(self, text: str, *, awaits_input: bool = False) -> None:
        printed = self.session.inbox.calls.printed(self, text, awaits_input=awaits_input)
        self.session.say(*printed)


def _line(act: Act, usual: str) -> str:
    """Return what is run, as a shell line; with its folder, if it is not usual, and variables."""
    named = (it.partition("=") for it in act.variables)
    variables = "".join(f"{name}={quote(value)} " for name, _, value in named)
    folder = "" if act.folder == usual else f"cd {quote(act.folder)} && "
    return f"{folder}{variables}{act.subject}"


def _status(ending: Exit) -> ExitStatus:
    if ending.signal is None:
        return ExitStatus(exit_code=ending.code)
    try:
        return ExitStatus(signal=signal.Signals(ending.signal).name)
    except ValueError:  # a real-time signal
        return ExitStatus(signal=f"SIG{ending.signal}")
