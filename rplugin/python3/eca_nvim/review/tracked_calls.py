"""Tracked calls: the calls of a turn that change files, and what was seen of these files."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import TypeAlias

from msgspec import Struct, field

from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.review.snapshots import Snapshot

Seen: TypeAlias = Mapping[str, Snapshot]
"""Files as they were at one moment, by path."""

UNSEEN = Snapshot(fault="its earlier text was not seen")


class Fate(Enum):
    """What became of a call."""

    OPEN = auto()
    DONE = auto()
    FAILED = auto()
    STOPPED = auto()


class Observation(Struct, frozen=True):
    """What was seen of files, and how many steps of the turn had ended then."""

    seen: Seen = field(default_factory=dict)
    ended: int = 0


class Step(Struct, eq=False):
    """A call that changes files, and how they were seen.

    early: while the model wrote the call. before: when it was complete, or the user let it;
    `certain`: it surely had not run. after: at its end. is_watched: it may change any file, and
    which it did change is found by surveys.
    """

    call: ToolCall
    early: Observation
    before: Observation
    certain: bool
    after: dict[str, Snapshot] = field(default_factory=dict)
    fate: Fate = Fate.OPEN
    is_watched: bool = False
