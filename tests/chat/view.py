"""A view in memory: applies ops to blocks of lines, and checks every rule of ops.py.

It uses lists where Lua uses extmarks. A broken rule is an AssertionError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgpack
from tests.support.highlights import HIGHLIGHTS

from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.call_details import SetUsedFiles
from eca_nvim.chat.vocabulary.ops import BlockKind, Segment, ViewOp
from eca_nvim.nvim.frames import wire

_FORBIDDEN = frozenset(chr(code) for code in [*range(9), *range(11, 32), 127])


@dataclass
class Shown:
    """A block as it is on the screen."""

    id: int
    kind: BlockKind
    depth: int
    after: int | None
    header: str
    lost: str = ""
    body: list[str] = field(default_factory=list)
    closed: bool = False

    def append(self, text: str) -> None:
        assert text, "an append of nothing"
        first, *rest = clean(text).split("\n")
        if self.body:
            self.body[-1] += first
            self.body += rest
        else:
            self.body = [first, *rest]


class View:
    """Everything a view would show of one chat."""

    def __init__(self) -> None:
        self.blocks: list[Shown] = []
        self.status: Mapping[str, object] = {}
        self.queue: list[tuple[str, str]] = []
        self.events: list[tuple[str, Mapping[str, object]]] = []
        self.used: list[SetUsedFiles] = []
        self.other: list[ViewOp] = []

    def draw(self, changes: Iterable[ViewOp]) -> None:
        for op in changes:
            msgpack.packb(wire(op))
            self._draw(op)

    def _draw(self, op: ViewOp) -> None:
        match op:
            case ops.OpenBlock():
                self._open(op)
            case ops.SetHeader(block=block, header=header, lost=lost):
                shown = self[block]
                assert header, "a header does not become empty"
                shown.header, shown.lost = line(header), line(lost or ())
            case ops.AppendText(block=block, text=text):
                self[block].append(text)
            case ops.SetBody():
                self._body(op)
            case ops.CloseBlock(block=block):
                self[block].closed = True
            case ops.RemoveBlock(block=block):
                self.blocks.remove(self[block])
            case ops.ClearChat():
                self.blocks.clear()
            case _:
                self._note(op)

    def _note(self, op: ViewOp) -> None:
        match op:
            case ops.SetStatus(status=status):
                assert status != self.status, "a status that did not change"
                assert None not in status.values()
                self.status = status
            case ops.SetQueue(prompts=prompts):
                self.queue = list(prompts)
            case SetUsedFiles():
                self.used.append(op)
            case ops.Emit(event=event, data=data):
                self.events.append((event, data))
            case _:
                self.other.append(op)

    def _open(self, op: ops.OpenBlock) -> None:
        assert all(shown.id != op.block for shown in self.blocks), "opened twice"
        place = len(self.blocks)
        if op.after is not None:
            place = self.blocks.index(self[op.after]) + 1
            depth = self[op.after].depth
            while place < len(self.blocks) and self.blocks[place].depth > depth:
                place += 1
        lost = line(op.lost or ())
        shown = Shown(op.block, op.kind, op.depth, op.after, line(op.header), lost)
        self.blocks.insert(place, shown)
        if op.text:
            shown.append(op.text)
        shown.closed = op.closed

    def _body(self, op: ops.SetBody) -> None:
        for row, start, end, group in op.marks:
            assert 0 <= row < len(op.lines), "a mark outside the body"
            size = len(op.lines[row].encode())
            assert 0 <= start <= size, "a mark beyond its line"
            assert end == -1 or start < end <= size, "a mark that is empty or beyond its line"
            assert group in HIGHLIGHTS
        for text in op.lines:
            assert "\n" not in clean(text)
        self[op.block].body = list(op.lines)

    def __getitem__(self, block: int) -> Shown:
        found = [shown for shown in self.blocks if shown.id == block]
        assert found, f"no block {block} in the view"
        return found[0]

    @property
    def lines(self) -> list[str]:
        """List all lines: headers, and bodies under them, nested ones indented."""
        result: list[str] = []
        for shown in self.blocks:
            margin = "  " * shown.depth
            if shown.header:
                result.append(margin + shown.header)
            result += [f"{margin}{'  ' if shown.header else ''}{text}" for text in shown.body]
        return result

    @property
    def lost(self) -> list[str]:
        """List the headers that blocks have when the host ends now, of those that change."""
        return [shown.lost for shown in self.blocks if shown.lost]

    @property
    def text(self) -> str:
        """Join all lines."""
        return "\n".join(self.lines)

    def said(self, kind: BlockKind) -> str:
        """Join what the blocks of a kind say."""
        return "".join("\n".join(shown.body) for shown in self.blocks if shown.kind is kind)

    def fired(self, event: str) -> list[Mapping[str, object]]:
        """List the data of all autocommands of a name."""
        return [data for name, data in self.events if name == event]


def line(header: Sequence[Segment]) -> str:
    for text, group in header:
        assert "\n" not in clean(text)
        assert group in HIGHLIGHTS
    return "".join(text for text, _ in header)


def clean(text: str) -> str:
    assert not _FORBIDDEN & set(text), f"not clean: {text!r}"
    text.encode()
    return text
