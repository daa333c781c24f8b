"""The panel of all chats: what each does and waits for, what it has cost and changed.

Rules kept here:
- Those that need the user come first: what has waited longest, then what has ended unseen. Then
  those that run, then the others, the last used first.
- A chat that only the view has, as the host was started again, is listed as not open.
- What a chat has changed is looked at again when it has changed something else, once a second at
  most for all chats. Each change of a file is counted once, a few for a drawing: none is late.
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import PurePath
from typing import Any, ClassVar, Final, TypeAlias

from msgspec import Struct, field

from eca_nvim.chat.model.blocks import Block, NoteBlock, ReasoningBlock, ToolBlock, open_question
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.panel_rows import money
from eca_nvim.chat.render.status import status
from eca_nvim.chat.render.tool import call_title
from eca_nvim.chat.text.safe_text import duration
from eca_nvim.chat.vocabulary import intents, query_intents
from eca_nvim.chat.vocabulary.options import Ability
from eca_nvim.chat.vocabulary.panels import Action, Ask, Cell, Row
from eca_nvim.chat.vocabulary.states import CallState, TurnEnd
from eca_nvim.review.change_list import changed_lines
from eca_nvim.review.turn_changes import FileRecord, TurnChanges
from eca_nvim.session.chats import now
from eca_nvim.session.panels.panel import Answer, Panel, Scene, cell, column, note, rest
from eca_nvim.session.view import Refused

UNTITLED: Final = "New chat"
TITLE_CELLS, WHAT_CELLS, JOB_CELLS = 80, 60, 40
COUNT_SECONDS: Final = 0.01
"""How long a drawing counts changed lines."""
_Contents: TypeAlias = tuple[str | None, str | None]
"""The digests of a file's content before and after a turn, by which its lines are known."""
_BETWEEN: Final[Cell] = (" · ", "EcaMuted", 0)
_MINUTE_MS: Final = 60_000
_FAILED: Final = frozenset({TurnEnd.FAILED, TurnEnd.GONE})
_RUNS: Final = frozenset({CallState.RUNNING, CallState.APPROVED})
_ANSWERS: Final = ("allow", "reject", "always", "reason", "diff")


class _Rank(IntEnum):
    """What a chat is to the user, the most urgent first."""

    WAITS = 0
    ENDED = 1
    RUNS = 2
    RESTS = 3


_LOOKS: Final[Mapping[str, tuple[str, _Rank]]] = {
    "waiting": ("EcaWaiting", _Rank.WAITS),
    "login": ("EcaWaiting", _Rank.WAITS),
    "failed": ("EcaFailed", _Rank.ENDED),
    "finished": ("EcaNew", _Rank.ENDED),
    "running": ("EcaRunning", _Rank.RUNS),
    "stopping": ("EcaWaiting", _Rank.RUNS),
    "idle": ("EcaMuted", _Rank.RESTS),
}
"""By the words that `:Eca chats` has, too."""


class _Listed(Struct, frozen=True):
    """A chat as it is listed: since when (ms) it is in this state, and its status."""

    chat: Chat
    state: str
    since: int
    told: Mapping[str, Any]

    @property
    def order(self) -> tuple[int, int]:
        """What waits or runs for longest comes first, else what ended last."""
        rank = _LOOKS[self.state][1]
        return rank, self.since if rank in (_Rank.WAITS, _Rank.RUNS) else -self.since

    @property
    def took(self) -> str:
        """How long; of what needs nobody in minutes, so that its row seldom changes."""
        passed = now() - self.since
        if _LOOKS[self.state][1] in (_Rank.WAITS, _Rank.RUNS):
            return duration(passed // 1000 * 1000)
        return _age(passed) if self.since else ""


class _Lines(Struct):
    """The lines that a chat has added and removed, counted a file at a time.

    version: of the changes that were looked at. shown: as counted last, kept until all are again.
    """

    version: int = 0
    shown: tuple[int, int] = (0, 0)
    files: Sequence[_Contents] = ()
    counted: dict[_Contents, tuple[int, int]] = field(default_factory=dict)
    waiting: list[FileRecord] = field(default_factory=list)

    def look(self, turns: Sequence[TurnChanges]) -> None:
        """Note what there is to count now."""
        records = [it for turn in turns for it in turn.files.values() if not it.undone]
        self.files = [_contents(it) for it in records]
        known = {*self.files}
        self.counted = {key: it for key, it in self.counted.items() if key in known}
        new = {_contents(it): it for it in records if _contents(it) not in self.counted}
        self.waiting = [*new.values()]
        self._sum()

    def count(self, until: float) -> None:
        """Count until a time; what is not reached waits for the next call."""
        while self.waiting and time.monotonic() < until:
            record = self.waiting.pop()
            one = TurnChanges("", 0, "", {"": record})
            self.counted[_contents(record)] = changed_lines([one])
        self._sum()

    def _sum(self) -> None:
        if not self.waiting:
            found = [self.counted[it] for it in self.files]
            self.shown = sum(it for it, _ in found), sum(it for _, it in found)


def _contents(record: FileRecord) -> _Contents:
    before, after = record.before.blob, record.after.blob
    return before.digest if before else None, after.digest if after else None


class DashboardPanel(Panel):
    """The chats of this Neovim, of all servers."""

    ACTIONS: ClassVar = (
        Action("open", "o", "open"),
        Action("allow", "a", "allow", answers=True),
        Action("reject", "r", "reject", answers=True),
        Action("always", "A", "always allow it in this session", answers=True),
        Action("reason", "R", "reject and say what to do instead", answers=True),
        Action("diff", "d", "show the whole diff in a tab page", answers=True),
        Action("stop", "s", "stop"),
        Action("new", "n", "new chat", everywhere=True),
        Action("rename", "c", "rename", (Ask("title", "Title:"),)),
        Action("delete", "D", "delete", sure="Delete {} for good?"),
    )

    def __init__(self, scene: Scene, chat_id: str | None) -> None:
        super().__init__(scene, chat_id)
        self._lines = defaultdict[str, _Lines](_Lines)
        self._looked = 0.0
        self._left = 0.0
        """Seconds that this drawing may still count."""

    @property
    def title(self) -> str:
        """How many chats need the user, and how many run."""
        ranks = [_LOOKS[_state(it, status(it, now()))][1] for it in self.scene.chats]
        needs = sum(rank in (_Rank.WAITS, _Rank.ENDED) for rank in ranks)
        runs = ranks.count(_Rank.RUNS)
        words = [f"{needs} for you"] * bool(needs) + [f"{runs} running"] * bool(runs)
        return f"chats: {', '.join(words) or len(ranks)}"

    def rows(self) -> Iterator[Row]:
        """Yield a row a chat."""
        self._left = COUNT_SECONDS
        listed = sorted((_listed(it) for it in self.scene.chats), key=lambda it: it.order)
        servers = {it.chat.server_name for it in listed}
        folders = {name: self._folder(name) for name in servers}
        several = len(servers) > 1, len({*folders.values()}) > 1
        for one in listed:
            server = one.chat.server_name
            places = (server if several[0] else "", folders[server] if several[1] else "")
            yield self._row(one, places)
        known = self.scene.chats.table
        self.in_view = [it for it in self.in_view if it not in known]
        yield from map(_not_open, self.in_view)
        if not listed and not self.in_view:
            yield note("no chat yet: n starts one")

    def _folder(self, server: str) -> str:
        return PurePath(self.scene.servers.get(server).process.folder or "").name

    def _row(self, one: _Listed, places: tuple[str, str]) -> Row:
        chat, told = one.chat, one.told
        facts = [
            [rest(cell(_what(chat, one.state), WHAT_CELLS))],
            [rest("TRUST" if chat.trust else "", "EcaTrust")],
            self._changes(chat),
            [rest(_cost(chat), "EcaMuted")],
            *([rest(it, "EcaMuted")] for it in places),
            [rest("/".join(told[it] for it in ("agent", "variant") if it in told), "EcaMuted")],
            [rest(told.get("model", ""), "EcaMuted")],
        ]
        more = [it for fact in facts if fact and fact[0][0] for it in (_BETWEEN, *fact)]
        title = cell(chat.title or UNTITLED, TITLE_CELLS)
        return Row(
            id=chat.id,
            line=(
                column(one.state, 8, _LOOKS[one.state][0]),
                column(one.took, 6, "EcaTime"),
                rest(title, "EcaWinbarTitle"),
                *more,
            ),
            actions=tuple(_actions(chat, one.state)),
            values={"title": title, "name": f'"{title}"{self._ends(chat)}'},
            chat=chat.id,
        )

    def _changes(self, chat: Chat) -> list[Cell]:
        ledger, lines, began = self.scene.ledger, self._lines[chat.id], time.monotonic()
        if ledger.versions[chat.id] != lines.version and began - self._looked >= 1:
            lines.version, self._looked = ledger.versions[chat.id], began
            lines.look(ledger.turns(chat.id))
        if lines.waiting:
            lines.count(began + self._left)
            self._left -= time.monotonic() - began
            self.scene.chats.changed()
        added, removed = lines.shown
        if not added and not removed:
            return []
        return [rest(f"+{added}", "EcaDiffAdd"), (" ", "", 0), rest(f"-{removed}", "EcaDiffDelete")]

    def _ends(self, chat: Chat) -> str:
        """Return what runs in the background of a chat, and ends with it."""
        jobs = [
            it.title
            for it in self.scene.servers.of(chat).incoming.jobs.in_background
            if it.chat_id == chat.id
        ]
        more = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
        return f" and end {cell(jobs[0], JOB_CELLS)}{more}" if jobs else ""

    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:
        """Act on a chat."""
        chat = self.scene.chats.table.get(row)
        if action == "new":
            return {"new": chat.server_name if chat else ""}
        if action == "open" and row in self.in_view:
            return {"chat": row}
        if chat is None:
            raise Refused("this chat is gone")
        match action:
            case "open":
                return {"chat": row}
            case "stop":
                await self.scene.do(intents.StopTurn(row))
            case "rename":
                title = values.get("title", "").strip()
                if title and title != chat.title:
                    await self.scene.do(query_intents.RenameChat(row, title))
            case "delete":
                await self.scene.do(query_intents.DeleteChat(row))
        return None


def _listed(chat: Chat) -> _Listed:
    told, turn = status(chat, now()), chat.turn
    state, since = _state(chat, told), turn.last_activity_ms
    if _LOOKS[state][1] in (_Rank.WAITS, _Rank.RUNS):
        since = turn.started_ms or now()
    return _Listed(chat, state, _asked_since(chat) or since, told)


def _not_open(chat_id: str) -> Row:
    line = column("not open", 8, "EcaMuted"), column("", 6), rest("<CR> opens it", "EcaMuted")
    return Row(chat_id, line, ("open",), chat=chat_id)


def _state(chat: Chat, told: Mapping[str, Any]) -> str:
    if told["state"] == "idle" and chat.unseen:
        return "failed" if chat.turn.end in _FAILED else "finished"
    return str(told["state"])


def _first_request(chat: Chat) -> Block | None:
    return min(chat.waiting, key=lambda it: it.request.since if it.request else 0, default=None)


def _asked_since(chat: Chat) -> int | None:
    block = _first_request(chat)
    return block.request.since if block and block.request else None


def _actions(chat: Chat, state: str) -> Iterator[str]:
    yield "open"
    block = _first_request(chat)
    if block is not None and open_question(block) is None:
        yield from _ANSWERS
    if state not in ("idle", "finished", "failed"):
        yield "stop"
    if Ability.RENAME in chat.abilities:
        yield "rename"
    if Ability.DELETE in chat.abilities:
        yield "delete"


def _what(chat: Chat, state: str) -> str:
    """Return what a chat asks or does, or why it failed."""
    block = _first_request(chat)
    if block is not None:
        question = open_question(block)
        asked = question.asked.question if question else ""
        asked = asked or (call_title(block, chat.settings) if isinstance(block, ToolBlock) else "")
        more = f" ({len(chat.waiting)} requests)" if len(chat.waiting) > 1 else ""
        return f"asks: {cell(asked, WHAT_CELLS - len(more) - 6)}{more}"
    if state == "failed":
        last = chat.root.blocks[-1:]
        return next((it.text for it in last if isinstance(it, NoteBlock)), "")
    if _LOOKS[state][1] is not _Rank.RUNS:
        return ""
    return _doing(chat)


def _doing(chat: Chat) -> str:
    turn = chat.turn
    if chat.server == "starting":
        return "its server starts"
    if turn.retrying and turn.activity:
        return turn.activity
    text = chat.root.current_text
    for block in reversed(chat.live.values()):
        if text is not None and text.id > block.id:
            break
        match block:
            case ToolBlock(state=state) if state in _RUNS:
                ran = now() - (block.started_ms or now())
                took = duration(ran // 1000 * 1000)
                return f"{call_title(block, chat.settings)} {took}".strip()
            case ToolBlock(state=CallState.PREPARING):
                return f"prepares {call_title(block, chat.settings)}"
            case ReasoningBlock():
                return "thinks"
            case _:
                pass
    return "writes" if text is not None else turn.activity or "works"


def _cost(chat: Chat) -> str:
    """Return what a chat has cost, and its tokens."""
    usage = chat.usage
    if usage is None:
        return ""
    cost = money(usage.session_cost, usage.currency) if usage.session_cost is not None else ""
    tokens, limit = usage.session_tokens, usage.context_limit
    of = f"/{_short(limit)}" if limit else ""
    return f"{cost} {_short(tokens)}{of}".strip() if tokens is not None else cost


def _short(tokens: int) -> str:
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.0f}k" if tokens < 1_000_000 else f"{tokens / 1_000_000:.1f}M"


def _age(milliseconds: int) -> str:
    minutes = milliseconds // _MINUTE_MS
    if minutes < 60:
        return f"{minutes}m" if minutes else "<1m"
    return f"{minutes // 60}h" if minutes < 60 * 24 else f"{minutes // (60 * 24)}d"
