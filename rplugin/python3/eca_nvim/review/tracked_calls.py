"""Tracked calls: the calls of a turn that change files, and how the files looked meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import TypeAlias

from msgspec import Struct, field

from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.review.snapshots import Snapshot

Files: TypeAlias = Mapping[str, Snapshot]
"""Files as they were at one moment, by path."""

UNSEEN = Snapshot(fault="its original text is unknown")


class CallOutcome(Enum):
    """How a call ended, if it has."""

    OPEN = auto()
    DONE = auto()
    FAILED = auto()
    STOPPED = auto()


class Observation(Struct, frozen=True):
    """Files at one moment, and how many calls of the turn had ended by then."""

    files: Files = field(default_factory=dict)
    ended_calls: int = 0


class TrackedCall(Struct, eq=False):
    """A call that changes files, with the files as they were observed.

    early: observed while the model was writing the call. before: observed when the request was
    complete, or at the approval. before_is_certain: the call had surely not run by then. after:
    observed at its end. is_watched: it may change any file; surveys find which.
    """

    call: ToolCall
    early: Observation
    before: Observation
    before_is_certain: bool
    after: dict[str, Snapshot] = field(default_factory=dict)
    outcome: CallOutcome = CallOutcome.OPEN
    is_watched: bool = False
