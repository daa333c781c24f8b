"""Panels: which are shown, drawing what has changed in them, and doing what the user wants there.

Rules kept here:
- Only rows that differ are sent: the first and the last ones that are the same stay. A panel is
  drawn when something has changed, at most ten times a second, and once a second for times.
- An action shows at its row that it was sent, and for how long; after its time a line says so.
- A fault in one panel ends neither another one nor the session.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.chat.text.safe_text import duration
from eca_nvim.chat.vocabulary import bases, panels
from eca_nvim.chat.vocabulary.panels import Row, SetPanel, SetRows
from eca_nvim.session.panels.panel import Panel, Scene, note
from eca_nvim.session.view import Refused, isolated

PAUSE: Final = 0.1
"""Seconds between two drawings of a panel, at least."""
SHARE: Final = 9
"""How many times longer than drawing the pause after it is, at least."""
REFRESH: Final = 1.0
"""Seconds after which times are drawn again."""
MOST_TOGETHER: Final = 200
"""Rows that are sent in one op: a frame has room for some of them."""


class Sent(Struct, frozen=True):
    """An action whose effect is not seen yet."""

    text: str
    since: float


class Shown(Struct, eq=False):
    """A panel that is shown, and what the view has of it."""

    panel: Panel
    number: int
    title: str = ""
    rows: list[Row] = field(default_factory=list)
    sent: dict[str, Sent] = field(default_factory=dict)
    fault: str = ""


class Panels:
    """The panels that are shown, by name."""

    def __init__(self, scene: Scene, kinds: Callable[[], Mapping[str, type[Panel]]]) -> None:
        """`kinds`: called when one is shown; they are loaded with the first one."""
        self._kinds = kinds
        self._scene = scene
        self._view = scene.view
        self._chats = scene.chats
        self._servers = scene.servers
        self._shown: dict[str, Shown] = {}
        self._changed = anyio.Event()
        self._is_running = False
        self.table: Mapping[type[bases.Intent], Any] = {
            panels.ShowPanel: self._show,
            panels.ClosePanel: self._close,
            panels.ActInPanel: self._act,
            panels.NoteUnseen: self._note_unseen,
        }

    def _change(self) -> None:
        self._changed.set()

    # --- what the user does -----------------------------------------------------------------------

    async def _show(self, intent: panels.ShowPanel) -> None:
        self._close(panels.ClosePanel(intent.panel))
        shown = Shown(self._kinds()[intent.panel](self._scene, intent.chat), intent.showing)
        shown.panel.in_view = intent.chats
        self._shown[intent.panel] = shown
        self._draw(intent.panel, shown)
        if not self._is_running:
            self._is_running = True
            self._servers.start(self._keep_drawing)
        try:
            await shown.panel.begin()
        except (AgentRefused, Refused) as refusal:
            shown.fault = str(refusal)
        self._change()

    def _close(self, intent: panels.ClosePanel) -> None:
        shown = self._shown.pop(intent.panel, None)
        if shown is not None:
            shown.panel.end()

    async def _act(self, intent: panels.ActInPanel) -> object:
        shown = self._shown.get(intent.panel)
        if shown is None:
            return None
        panel, row = shown.panel, intent.row or ""
        text = next((it.text for it in panel.ACTIONS if it.name == intent.action), intent.action)
        if row in shown.sent:
            raise Refused(f"still waiting: {shown.sent[row].text}")
        seconds = panel.seconds_for(intent.action)
        shown.sent[row] = Sent(text, time.monotonic())
        self._change()
        try:
            with anyio.fail_after(seconds):
                return await panel.act(intent.action, row, intent.values)
        except TimeoutError:
            raise Refused(f"{text}: nothing has happened after {seconds:.0f} s") from None
        finally:
            del shown.sent[row]
            self._change()

    def _note_unseen(self, intent: panels.NoteUnseen) -> None:
        chat = self._chats.table.get(intent.chat)
        if chat is not None:
            chat.unseen = intent.unseen
            self._chats.changed()

    # --- drawing ----------------------------------------------------------------------------------

    async def _keep_drawing(self) -> None:
        """Draw while a panel is shown."""
        self._chats.on_change = self._change
        while self._shown:
            with anyio.move_on_after(REFRESH):
                await self._changed.wait()
            self._changed = anyio.Event()
            began = time.monotonic()
            for name, shown in tuple(self._shown.items()):
                self._draw(name, shown)
            # Thousands of rows that change all the time must leave the host free for the chats.
            await anyio.sleep(max(PAUSE, SHARE * (time.monotonic() - began)))
        self._is_running, self._chats.on_change = False, None

    def _draw(self, name: str, shown: Shown) -> None:
        with isolated(self._view, f"draw the panel {name}", shown.panel):
            title, rows = shown.panel.title, [_with_sent(it, shown.sent) for it in _rows(shown)]
            if title != shown.title:
                self._view.push([SetPanel(name, shown.number, title, shown.panel.ACTIONS)])
            self._view.push(difference(name, shown.number, shown.rows, rows))
            shown.title, shown.rows = title, rows


def _rows(shown: Shown) -> Sequence[Row]:
    if shown.fault:
        return [note(shown.fault, "EcaWarning")]
    return tuple(shown.panel.rows())


def _with_sent(row: Row, sent: Mapping[str, Sent]) -> Row:
    """Return a row with what was sent for it, and since when it waits."""
    waiting = sent.get(row.id)
    if waiting is None:
        return row
    took = duration((time.monotonic() - waiting.since) // 1 * 1000)
    return replace(row, line=[*row.line, (f"  {waiting.text} … {took}".rstrip(), "EcaRunning", 0)])


def difference(
    name: str, showing: int, old: Sequence[Row], new: Sequence[Row]
) -> Sequence[SetRows]:
    """Return the ops that make the new rows of the old ones."""
    least = min(len(old), len(new))
    first = next((it for it in range(least) if old[it] != new[it]), least)
    last = next((it for it in range(least - first) if old[-1 - it] != new[-1 - it]), least - first)
    removed, added = len(old) - first - last, new[first : len(new) - last]
    if not removed and not added:
        return ()
    pieces = range(0, max(1, len(added)), MOST_TOGETHER)
    return [
        SetRows(
            *(name, showing, first + at, 0 if at else removed, added[at : at + MOST_TOGETHER]),
            more=at != pieces[-1],
        )
        for at in pieces
    ]
