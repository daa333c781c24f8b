"""Tool calls: the calls of a session, from messages that may leave out anything.

Any message may be the first about a call: an update, a request for permission, its end. A message
costs the same however many there were.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.agents.acp.updates.known_call import KnownCall
from eca_nvim.agents.acp.updates.messages import CallIds
from eca_nvim.chat.vocabulary import events
from eca_nvim.chat.vocabulary.call_details import FileNamed, ToolCall
from eca_nvim.chat.vocabulary.events import ChatEvent, ToolOutput, ToolRequested, ToolRunning
from eca_nvim.chat.vocabulary.requests import ALLOWING, Choice
from eca_nvim.digests import new_id
from eca_nvim.protocol.acp import tool_call

MOST_OPEN = 100
"""Calls that have not ended which are looked at, at most."""
MOST_SCREENS = 64
"""Terminals of a turn that can be embedded, at most: of more the oldest can no longer be."""


class Phase(Enum):
    """How far the chat knows a call.

    NEW: nothing but a title is known. TOLD: it is known what the call will do. REFUSED: the user
    rejected it. STOPPED: its turn ended first; its result may still come.
    """

    NEW = auto()
    TOLD = auto()
    ASKED = auto()
    RUNNING = auto()
    REFUSED = auto()
    ENDED = auto()
    STOPPED = auto()


_OVER = frozenset({Phase.ENDED, Phase.STOPPED})
_NEVER_ASKED_AGAIN = _OVER | {Phase.REFUSED}
_MAY_BEGIN = frozenset({Phase.NEW, Phase.TOLD})
_MAY_DO = _MAY_BEGIN | {Phase.RUNNING}
_ENDS = frozenset({tool_call.CallStatus.COMPLETED, tool_call.CallStatus.FAILED})


class _Call(Struct, eq=False):
    """A call of a turn.

    remote_id: the agent's id. request_id: of the last request for permission, with its choices.
    began: the agent said that it runs while it waited. printed: the text of its content that the
    chat has. is_joined: it was ours until the agent embedded its terminal.
    """

    known: KnownCall
    remote_id: str
    turn: int
    phase: Phase = Phase.NEW
    request_id: str | None = None
    choices: tuple[Choice, ...] = ()
    began: bool = False
    printed: str = ""
    is_joined: bool = False


class Screen(ABC):
    """A terminal of ours; `command`: what it runs, as a shell line.

    An agent may embed it in a call before it prints, while it does, or when it has been released.
    """

    def __init__(self, command: str) -> None:
        self.id = f"terminal {new_id()}"
        self.command = command
        self.call: KnownCall | None = None
        """The call that shows it: the last one that has embedded it."""
        self.own_call: str | None = None
        """The id of that call, if it is ours."""

    @abstractmethod
    def text(self) -> str:
        """Return the end of what it has printed."""

    def show_in(self, call: KnownCall) -> bool:
        """Show it in a call; returns whether that has not done so yet."""
        before, self.call = self.call, call
        if before is call:
            return False
        if before is not None:
            before.hide(self.id)
        call.show(self.id, self.command, self.text)
        return True


class ToolCalls:
    """The calls of one session; `folder` and `read` are as for `file_changes`."""

    def __init__(self, ids: CallIds, folder: str, read: Mapping[str, str]) -> None:
        self._ids = ids
        self._folder = folder
        self._texts_read = read
        self._turn = 0
        self._calls: dict[str, _Call] = {}  # by the agent's ids
        self._open: dict[str, _Call] = {}  # by our ids
        self._screens: dict[str, Screen] = {}  # terminals of ours of this turn

    def turn_began(self) -> None:
        """Note that another turn begins."""
        self._turn += 1

    def turn_ended(self) -> Sequence[ChatEvent]:
        """End what is open: the chat stops it with its turn, as we did with our own terminals."""
        told: list[ChatEvent] = []
        for call in self._open.values():
            if any(it.call is call.known for it in self._screens.values()):
                told.append(events.ToolRejected(call.known.call, events.CUT))
            elif call.phase is Phase.NEW:
                told.append(ToolRequested(call.known.call))
            call.phase = Phase.ENDED if call.phase is Phase.REFUSED else Phase.STOPPED
        self._open.clear()
        self._screens.clear()
        return told

    def updated(self, update: tool_call.ToolCallUpdate, *, announces: bool) -> Sequence[ChatEvent]:
        """Read a message about a call; `announces`: it may begin one."""
        call = self._calls.get(update.tool_call_id)
        if call is None and not announces and _is_empty(update):
            return ()
        if call is None and (joined := self._join(update)) is not None:
            return [*self._read(joined, update, is_first=False)]
        # An id that is announced again after its call has ended means a new call.
        is_over = call is not None and call.phase in _OVER
        is_later = call is not None and (call.turn < self._turn or update.status not in _ENDS)
        is_first = call is None or (announces and is_over and is_later)
        if call is None or is_first:
            call = self._begin(update.tool_call_id)
        return [*self._read(call, update, is_first=is_first)]

    def requested(
        self, request_id: str, update: tool_call.ToolCallUpdate, choices: tuple[Choice, ...]
    ) -> ToolRequested:
        """Read a request for permission; returns what asks the user."""
        call = self._calls.get(update.tool_call_id)
        if call is None or call.is_joined or call.phase in _NEVER_ASKED_AGAIN:
            call = self._begin(update.tool_call_id)
        call.began = call.began or call.phase is Phase.RUNNING
        call.known.asks()
        call.known.merge(update)
        call.phase, call.request_id, call.choices = Phase.ASKED, request_id, choices
        return _asks(call)

    def decided(self, call_id: str, choice: Choice | None) -> ToolRunning | None:
        """Go on after the user's answer; None: there was none, as the turn is being stopped."""
        call = self._answered(call_id)
        if call is not None and choice is not None and choice.kind in ALLOWING:
            return _runs(call)
        if call is not None:
            call.phase = Phase.TOLD if choice is None else Phase.REFUSED
        return None

    def withdrawn(self, call_id: str) -> Iterator[ChatEvent]:
        """Go on after the agent has withdrawn its request."""
        call = self._answered(call_id)
        if call is not None:
            call.phase = Phase.TOLD
            yield events.ApprovalWithdrawn(call.known.call)
            if call.began:
                yield _runs(call)

    def open_calls(self) -> Iterator[tuple[str, ToolCall]]:
        """Yield calls that have not ended, by the agent's ids, the newest first.

        Not those that wait for the user, that were rejected, or that have run our terminal.
        """
        for call in islice(reversed(self._open.values()), MOST_OPEN):
            if call.phase in _MAY_DO and not call.is_joined:
                yield call.remote_id, call.known.call

    def runs(self, call_id: str) -> bool:
        """Return whether a call has begun and not ended, by our id."""
        call = self._open.get(call_id)
        return call is not None and call.phase is Phase.RUNNING

    def wrote(
        self, call_id: str, path: str, old: str | None, new: str
    ) -> Sequence[ChatEvent] | None:
        """Show a write of ours in a call (the agent's id); None: it has ended meanwhile."""
        call = self._calls.get(call_id)
        if call is None or call.phase not in _MAY_DO:
            return None
        before = call.known.call
        call.known.wrote(path, old, new)
        return [_runs(call)] if call.known.call != before else ()

    def add_screen(self, screen: Screen) -> None:
        """Add a terminal of ours that calls may embed from now on."""
        self._screens[screen.id] = screen
        while len(self._screens) > MOST_SCREENS:
            del self._screens[next(iter(self._screens))]

    def show(self, screen: Screen, call_id: str) -> Iterator[ChatEvent]:
        """Show a terminal of ours in a call; `call_id`: the agent's."""
        call = self._calls.get(call_id)
        if call is None:
            return
        before = call.known.call
        is_shown = screen.show_in(call.known)
        is_new = call.known.call != before
        if call.phase in _MAY_BEGIN or (call.phase is Phase.RUNNING and is_new):
            yield _runs(call)
        yield from _printed_so_far(call, [screen] if is_shown else [])

    def printed(self, screen: Screen, text: str, *, awaits_input: bool) -> Iterator[ChatEvent]:
        """Add to what a terminal of ours has printed, if a call shows it."""
        call = None if screen.call is None else self._open.get(screen.call.id)
        if call is None:
            return
        if call.phase in _MAY_BEGIN:
            yield _runs(call)
        if call.phase in (Phase.RUNNING, Phase.ASKED):
            yield ToolOutput(call.known.id, text, awaits_input=awaits_input)

    def _answered(self, call_id: str) -> _Call | None:
        """Return a call that waits for the user."""
        call = self._open.get(call_id)
        return call if call is not None and call.phase is Phase.ASKED else None

    def _begin(self, remote_id: str) -> _Call:
        known = KnownCall(self._ids.fresh(remote_id), self._folder, self._texts_read)
        call = self._calls[remote_id] = self._open[known.id] = _Call(known, remote_id, self._turn)
        return call

    def _join(self, update: tool_call.ToolCallUpdate) -> _Call | None:
        """Return the call of ours whose terminal a new call of the agent embeds; it is that now.

        What it ran stays as it was shown, whatever the agent says.
        """
        screen = next((it for it in self._embedded(update) if it.own_call is not None), None)
        if screen is None or screen.own_call is None:
            return None
        call = self._calls[update.tool_call_id] = self._calls.pop(screen.own_call)
        call.remote_id, call.is_joined = update.tool_call_id, True
        screen.own_call = None  # the agent ends it from now on
        return call

    def _embedded(self, update: tool_call.ToolCallUpdate) -> Iterator[Screen]:
        """Yield the terminals of ours in the content of a call."""
        for part in update.content or ():
            if isinstance(part, tool_call.CallTerminal) and part.terminal_id in self._screens:
                yield self._screens[part.terminal_id]

    def _read(
        self, call: _Call, update: tool_call.ToolCallUpdate, *, is_first: bool
    ) -> Iterator[ChatEvent]:
        if call.is_joined:
            update = replace(update, title=None, name=None, kind=None, raw_input=None)
        if call.phase in _MAY_BEGIN and (update.status in _ENDS or _says_it_runs(update)):
            call.known.runs()
        is_new = call.known.merge(update) or is_first
        embedded = [it for it in self._embedded(update) if it.show_in(call.known)]
        is_new = is_new or bool(embedded)
        if update.status in _ENDS:
            yield from self._end(call, update, is_first=is_first)
        elif call.phase is Phase.ASKED:
            # It does not run before the answer, whatever the agent says: many say it too early.
            call.began = call.began or update.status is tool_call.CallStatus.IN_PROGRESS
            if is_new:
                yield _asks(call)
        elif call.phase is Phase.RUNNING or _says_it_runs(update) or embedded:
            if call.phase in _MAY_BEGIN or (call.phase is Phase.RUNNING and is_new):
                yield _runs(call)
            if call.phase is Phase.RUNNING:  # else it was rejected, or its turn has ended
                yield from _printed(call, update.meta)
                yield from _printed_so_far(call, embedded)
        elif call.phase is Phase.NEW:
            yield from _prepare(call, is_new=is_new)

    def _end(
        self, call: _Call, update: tool_call.ToolCallUpdate, *, is_first: bool
    ) -> Iterator[ChatEvent]:
        failed, was = update.status is tool_call.CallStatus.FAILED, call.phase
        if was is Phase.ENDED:
            if outputs := call.known.outputs():
                yield events.ToolFinished(call.known.call, outputs, failed)
            return
        if was is Phase.ASKED:
            yield events.ApprovalWithdrawn(call.known.call)
        call.phase = Phase.ENDED
        self._open.pop(call.known.id, None)
        if was is Phase.REFUSED and failed:
            yield events.ToolRejected(call.known.call)
            return
        if was is Phase.NEW and not is_first:
            yield ToolRequested(call.known.call)
        yield from _printed(call, update.meta)
        yield events.ToolFinished(call.known.call, call.known.outputs(), failed)
        yield from () if failed else _named(call.known)
        call.known.ended()


def _named(known: KnownCall) -> Iterator[ChatEvent]:
    """Yield the files that the content of a call names, without those that it says it uses."""
    own = {place.path for place in known.call.locations or ()}
    own |= {change.path for change in known.call.changes or ()}
    return (FileNamed(path) for path in known.named if path not in own)


def _is_empty(update: tool_call.ToolCallUpdate) -> bool:
    """Return whether a message says nothing that is used, as one with only `_meta` does."""
    said = (update.title, update.name, update.kind, update.status, update.raw_input)
    return all(it is None for it in said) and not (update.content or update.locations)


def _says_it_runs(update: tool_call.ToolCallUpdate) -> bool:
    prints = update.meta is not None and (update.meta.output or update.meta.output_delta)
    return update.status is tool_call.CallStatus.IN_PROGRESS or bool(prints)


def _asks(call: _Call) -> ToolRequested:
    return ToolRequested(
        call.known.call, needs_approval=True, choices=call.choices, request_id=call.request_id
    )


def _runs(call: _Call) -> ToolRunning:
    call.phase = Phase.RUNNING
    call.known.runs()
    return ToolRunning(call.known.call)


def _prepare(call: _Call, *, is_new: bool) -> Iterator[ChatEvent]:
    """Report a call that has not begun: as requested once it is known what it will do."""
    if call.known.says_what:
        call.phase = Phase.TOLD
        yield ToolRequested(call.known.call)
    elif is_new:
        yield events.ToolPreparing(call.known.call)


def _printed_so_far(call: _Call, screens: Sequence[Screen]) -> Iterator[ChatEvent]:
    for screen in screens if call.phase is Phase.RUNNING else ():
        if text := screen.text():
            yield ToolOutput(call.known.id, text)


def _printed(call: _Call, meta: tool_call.CallMeta | None) -> Iterator[ChatEvent]:
    """Yield what a call has printed since the last message."""
    text, before = call.known.text, call.printed
    if call.phase is Phase.RUNNING and text != before:
        call.printed = text
        goes_on = bool(before) and text.startswith(before)
        added = text[len(before) :] if goes_on else text
        yield ToolOutput(call.known.id, added, replaces=not goes_on)
    for piece in _pieces(meta):
        call.known.prints(piece)
        yield ToolOutput(call.known.id, piece)


def _pieces(meta: tool_call.CallMeta | None) -> Iterator[str]:
    """Yield what the agent's own terminal has printed, and how it ended if that was not well."""
    if meta is None:
        return
    for output in (meta.output, meta.output_delta):
        if output is not None and output.data:
            yield output.data
    if meta.exit is not None and (meta.exit.exit_code or meta.exit.signal):
        yield f"\n[{meta.exit.signal or f'exit code {meta.exit.exit_code}'}]\n"
