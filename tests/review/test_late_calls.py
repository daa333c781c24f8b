"""Checkpoints of any calls with late messages: correct, or reported as unseen."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.review.agent import Agent, Moment, edited, slurp
from tests.review.late import Contents, LateDesk, content, contents

from eca_nvim.review.turn_changes import UNSEEN

Lag: TypeAlias = st.SearchStrategy[int]
"""How much is heard when the agent has told or done one thing more."""

NAMES = ("a", "b", "c")
LINES = st.sampled_from([b"a\n", b"b\n", b"\n", b"a\r\n", b"\xff\n"])
PIECES = ("a", "b", "\n", "a\n", "b\na\n", "c", "aa")


ORIGINALS = st.dictionaries(
    st.sampled_from(NAMES),
    st.builds(
        lambda lines, last: b"".join(lines) + last,
        st.lists(LINES, max_size=8),
        st.sampled_from([b"", b"end"]),
    ),
    min_size=1,
)


def draw_call(data: st.DataObject, agent: Agent, kinds: Sequence[str]) -> Iterable[Moment] | None:
    """Choose something that the agent can do with the files as they are."""
    there = sorted(contents(agent.folder))
    kind = data.draw(st.sampled_from(kinds))
    name = data.draw(st.sampled_from(there if there and kind != "write" else NAMES))
    new = data.draw(st.sampled_from(PIECES))
    if kind == "write":
        return agent.write(name, new * data.draw(st.integers(0, 3)))
    if name not in there:
        return None
    if kind == "move":
        free = [it for it in NAMES if it not in there]
        return agent.move(name, data.draw(st.sampled_from(free))) if free else None
    if kind == "delete":
        return agent.delete(name)
    old = [it for it in PIECES if it in slurp(agent.folder / name)]
    if not old:
        return None
    piece, every = data.draw(st.sampled_from(old)), data.draw(st.booleans())
    before = (agent.folder / name).read_bytes()
    if edited(before.decode(errors="replace"), piece, new, every=every).encode() == before:
        return None
    return agent.edit(name, piece, new, every=every)


def play(data: st.DataObject, desk: LateDesk, calls: Sequence[Iterable[Moment]], lag: Lag) -> None:
    """Let the agent make calls that were written together, and hear of them with a lag."""
    told = [iter(call) for call in calls]
    written = [moment for call in told for moment in islice(call, 2)]
    for moment in chain(written, *told):
        desk.take(moment)
        desk.hear(data.draw(lag))


def check(desk: LateDesk, before: Contents, *, unseen: bool, in_time: bool) -> None:
    after = contents(desk.folder)
    files = desk.files()
    for name in NAMES:
        if name not in files:
            assert before.get(name) == after.get(name)
        elif before.get(name) is None and after.get(name) is None:
            continue  # it came and went: nothing is lost, whatever is said of it
        elif not (unseen and files[name].before == UNSEEN):
            assert content(files[name]) == before.get(name)
            assert not files[name].changed_by_others or not in_time


def run(
    data: st.DataObject, kinds: Sequence[str], together: int, lag: Lag, *, kept: bool, in_time: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as store:
        for name, there in data.draw(ORIGINALS).items():
            (Path(folder) / name).write_bytes(there)
        before = contents(Path(folder))
        desk = LateDesk(Path(folder), Path(store) / "store" if kept else None)
        for _ in range(data.draw(st.integers(1, 6))):
            drawn = [draw_call(data, desk.agent, kinds) for _ in range(together)]
            play(data, desk, [call for call in drawn if call is not None], lag)
        desk.end()
        check(desk, before, unseen=not kept, in_time=in_time)


@given(st.data(), st.integers(1, 2), st.booleans())
@settings(deadline=None, max_examples=12, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_whatever_is_heard_late_is_right(data: st.DataObject, together: int, in_time: bool) -> None:
    """The tree from before the turn says what the files were."""
    kinds = ("edit", "edit", "edit", "write", "move", "delete")
    lag = st.just(9) if in_time else st.sampled_from([0, 0, 0, 1, 2, 9])
    run(data, kinds, together, lag, kept=True, in_time=in_time)


@given(st.data())
@settings(deadline=None)
def test_what_is_heard_in_time_is_all_seen_without_a_store(data: st.DataObject) -> None:
    run(data, ("edit", "move"), 1, st.just(9), kept=False, in_time=True)
