"""Panel rows: the floats of `:Eca usage` and `:Eca files`."""

import math
import string
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, Final, TypeAlias

from msgspec import Struct

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.used_files import UsedFile, cooled
from eca_nvim.chat.text.safe_text import one_line, width
from eca_nvim.chat.vocabulary import call_details, ops, turn_events

CELLS = 48
OWN_GROUPS = 6
FULL, FREE, MARK = "█", "░", "┃"


class _Part(Struct, frozen=True):
    """A part of the context window; `look` is a cell of the bar with its colours."""

    name: str
    tokens: int
    look: turn_events.UsageSegment


def usage_rows(usage: turn_events.UsageReported | None) -> Sequence[turn_events.UsageRow]:
    """Return a row a line; none if the number of tokens is unknown."""
    if usage is None or usage.session_tokens is None:
        return []
    parts = _parts(usage)
    total = sum(part.tokens for part in parts)
    limit = "" if usage.context_limit is None else f" of {usage.context_limit:,}"
    rows: list[turn_events.UsageRow] = [
        [(f"{usage.session_tokens:,}{limit} tokens", "EcaWinbarTitle")]
    ]
    if total > 0:
        rows += [_bar(parts, total, usage.auto_compact_percentage)] if usage.context_limit else []
        rows += _legend(parts, total)
    if (percent := usage.auto_compact_percentage) is not None:
        rows.append([(MARK, "EcaUsageMark"), (f" is compacted at {percent}%", "EcaMuted")])
    if usage.output_limit is not None:
        rows.append([(f"answers of up to {usage.output_limit:,} tokens", "EcaMuted")])
    costs = (("this chat", usage.session_cost), ("last message", usage.last_message_cost))
    told = [f"{what} {money(cost, usage.currency)}" for what, cost in costs if cost is not None]
    return [*rows, [(" · ".join(told), "EcaMuted")]] if told else rows


def _parts(usage: turn_events.UsageReported) -> list[_Part]:
    parts = [
        _Part(
            one_line(it.name), it.tokens, _look(FULL, f"EcaUsage{place % OWN_GROUPS + 1}", it.color)
        )
        for place, it in enumerate(usage.categories)
    ]
    used, limit = usage.session_tokens or 0, usage.context_limit
    parts = parts or [_Part("used", used, (FULL, "EcaUsage1"))]
    free = usage.free_tokens
    if free is None and limit is not None:
        free = limit - used
    if free is not None and free >= 0:
        parts.append(_Part("free", free, _look(FREE, "EcaUsageFree", usage.free_color)))
    return parts


def _look(cell: str, group: str, color: str | None) -> turn_events.UsageSegment:
    # The agent's colour counts if it is `#rrggbb`; the group is for terminals without colours.
    digits = (color or "").removeprefix("#")
    is_color = color == f"#{digits}" and len(digits) == 6 and {*digits} <= {*string.hexdigits}
    return (cell, group, f"#{digits}".lower()) if is_color else (cell, group)


def _bar(parts: Sequence[_Part], total: int, compact_at: int | None) -> turn_events.UsageRow:
    """Draw the parts as cells; the boundaries are rounded, so that they fill the bar.

    Numbers of an agent may be wrong: the bar never grows beyond its width.
    """
    cells: list[turn_events.UsageSegment] = []
    before = 0
    for part in parts:
        before += part.tokens
        end = min(CELLS, int(before / total * CELLS + 0.5))
        cells += [part.look] * (end - len(cells))
    mark = int((compact_at or 0) / 100 * CELLS + 0.5)
    if 1 <= mark <= len(cells):
        cells[mark - 1] = (MARK, "EcaUsageMark")
    bar: list[turn_events.UsageSegment] = []
    for (cell, *colours), run in groupby(cells):
        bar.append((cell * len([*run]), *colours))
    return bar


def _legend(parts: Sequence[_Part], total: int) -> list[turn_events.UsageRow]:
    widest = max(width(part.name) for part in parts)
    return [
        [
            part.look,
            (f" {part.name}{' ' * (widest - width(part.name))}  {part.tokens:>9,}  ", ""),
            (f"{part.tokens / total:6.1%}", "EcaMuted"),
        ]
        for part in parts
    ]


def money(amount: str, currency: str) -> str:
    """Return an amount with its currency on one clean line: $0.02, 0.02 EUR."""
    if currency == turn_events.DOLLARS:
        return f"${one_line(amount).removeprefix('$')}"
    return one_line(f"{amount} {currency}")


HEAT_CELLS: Final = 5
WARM: Final = 3
"""Full cells of a heat of 1: one use in this turn. Each doubling is a cell more."""
MOST_ROWS: Final = 1000

Lines: TypeAlias = Mapping[str, tuple[int, int]]
"""Lines added and removed by commands, by path."""


def set_used_files(chat: Chat) -> call_details.SetUsedFiles:
    """Return the op with what the view does not know yet."""
    news, dropped = chat.used.take_news()
    files = [_table(chat, path, chat.used.files[path]) for path in news]
    return call_details.SetUsedFiles(chat.id, chat.used.turn, files, dropped)


def _table(chat: Chat, path: str, file: UsedFile) -> dict[str, Any]:
    counts = {use.value: file.counts[use] for use in call_details.Use if file.counts[use]}
    outside = _is_outside(path, chat.settings.folders)
    return {"path": path, "outside": outside, "turn": file.turn, "heat": file.heat, **counts}


def used_file_rows(chat: Chat, by_commands: Lines) -> dict[str, Any]:
    """Return what `:Eca files` shows: `head` (segments), `files` (the hottest first), `more`.

    A file: path, heat (segments) and use (segments). more: how many files are not in the list.
    """
    rows = [
        _row(chat, path, file, by_commands.get(path, (0, 0)))
        for path, file in islice(chat.used.hottest_first(), MOST_ROWS)
    ]
    return {"head": _head(chat), "files": rows, "more": len(chat.used.files) - len(rows)}


def _row(chat: Chat, path: str, file: UsedFile, lines: tuple[int, int]) -> dict[str, Any]:
    heat = cooled(file.heat, chat.used.turn - file.turn)
    full = min(HEAT_CELLS, max(0, math.floor(math.log2(heat)) + WARM)) if heat > 0 else 0
    bar = [(FULL * full, "EcaUsage1"), (FREE * (HEAT_CELLS - full), "EcaUsageFree")]
    outside = _is_outside(path, chat.settings.folders)
    use = list(_use(file, lines, outside=outside))
    return {"path": path, "heat": bar, "use": use}


def _is_outside(path: str, folders: Sequence[str]) -> bool:
    return bool(folders) and not any(path.startswith(f"{folder}/") for folder in folders)


def _use(file: UsedFile, lines: tuple[int, int], *, outside: bool) -> Iterator[ops.Segment]:
    yield f"  {f'turn {file.turn}' if file.turn else 'earlier':8}", "EcaMuted"
    words = (
        f"{use.value}{_times(file.counts[use])}" for use in call_details.Use if file.counts[use]
    )
    yield f" {', '.join(words)}", "EcaMuted"
    added, removed = file.added + lines[0], file.removed + lines[1]
    if added + removed:  # unknown for some changes
        yield "  ", ""
        yield f"+{added}", "EcaDiffAdd"
        yield " ", ""
        yield f"-{removed}", "EcaDiffDelete"
    if outside:
        yield "  outside the workspace", "EcaWarning"


def _times(count: int) -> str:
    return f" \N{MULTIPLICATION SIGN}{count}" if count > 1 else ""


def _head(chat: Chat) -> Sequence[ops.Segment]:
    number, usage = chat.turn.number, chat.usage
    words = [f"turn {number}" if number else "no turn yet"]
    if usage is not None and usage.session_tokens is not None:
        used, limit = usage.session_tokens, usage.context_limit
        words.append(f"{used:,} of {limit:,} tokens" if limit else f"{used:,} tokens")
        if limit:
            words.append(f"{used / limit:.0%} of the context window")
    return [(" · ".join(words), "EcaWinbarTitle")]
