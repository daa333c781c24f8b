"""The queue of view ops: order, merging, cutting, and when a frame is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eca_nvim.chat.vocabulary.ops import (
    AppendText,
    BlockKind,
    CloseBlock,
    Emit,
    OpenBlock,
    RemoveBlock,
    SetBody,
    SetHeader,
    SetPending,
    SetStatus,
    SetTools,
    SetToolServer,
    SetWork,
    ViewOp,
)
from eca_nvim.nvim.frames import (
    BACKLOG,
    BURST,
    FIRST_FRAME,
    GOAL_MS,
    INTERVAL,
    LARGEST_FRAME,
    PIECE,
    SMALLEST_FRAME,
    Frame,
    FrameQueue,
    OpQueue,
)

EVERYTHING = 1 << 40


def text(content: str, block: int = 1, chat: str = "a") -> AppendText:
    return AppendText(chat, block, content)


def status(number: int, chat: str = "a") -> SetStatus:
    return SetStatus(chat, {"elapsed": number})


def header(word: str, block: int = 1) -> SetHeader:
    return SetHeader("a", block, [(word, "")], [(f"lost {word}", "")])


def take_all(*ops: ViewOp) -> tuple[ViewOp, ...]:
    queue = OpQueue()
    for op in ops:
        queue.push(op)
    return queue.take(EVERYTHING)


def drain(queue: FrameQueue, milliseconds: float = 1.0) -> list[Frame]:
    """Take frame after frame, each drawn at once, at times that are always due."""
    frames, now = [], 0.0
    while (frame := queue.take(now)) is not None:
        frames.append(frame)
        queue.drawn(frame.number, milliseconds)
        now += INTERVAL
    return frames


def written(ops: list[ViewOp]) -> str:
    return "".join(op.text for op in ops if isinstance(op, AppendText))


def test_neighbouring_text_of_a_block_travels_as_one() -> None:
    assert take_all(text("a"), text("b"), text("c", block=2), text("d")) == (
        text("ab"),
        text("c", block=2),
        text("d"),
    )


def test_text_of_another_chat_with_the_same_block_number_stays_apart() -> None:
    assert len(take_all(text("a"), text("b", chat="b"))) == 2


def test_an_older_status_is_left_out_and_the_text_around_it_joins() -> None:
    ops = take_all(text("a"), status(1), text("b"), status(2), text("c"), status(3))
    assert ops == (text("abc"), status(3))


def test_a_later_header_and_body_replace_older_ones_of_the_same_block_only() -> None:
    old, new, other = SetBody("a", 1, ["1"]), SetBody("a", 1, ["2"]), SetBody("a", 2, ["3"])
    ops = take_all(header("x"), old, other, header("z", 2), header("y"), new)
    assert ops == (other, header("z", 2), header("y"), new)


def opened(word: str, block: int = 1) -> OpenBlock:
    return OpenBlock("a", block, BlockKind.TOOL, [(word, "")], lost=[(f"lost {word}", "")])


def test_a_block_that_waits_to_be_opened_is_opened_with_its_last_header() -> None:
    ops = take_all(opened("new"), text("a", 2), header("x"), opened("other", 3), header("y"))
    assert ops == (opened("y"), text("a", 2), opened("other", 3))


def test_a_block_that_was_taken_out_is_opened_again() -> None:
    gone = RemoveBlock("a", 1)
    ops = take_all(opened("new"), header("x"), gone, opened("again"), header("y"))
    assert ops == (opened("x"), gone, opened("y"))
    assert take_all(header("x"), gone, opened("again")) == (gone, opened("again"))


def test_a_header_does_not_overtake_what_an_autocommand_can_see() -> None:
    asked = Emit("EcaApprovalRequested", {"id": "1"})
    assert take_all(opened("new"), asked, header("x")) == (opened("new"), asked, header("x"))


def test_a_block_that_was_opened_gets_its_header_by_itself() -> None:
    queue = OpQueue()
    queue.push(opened("new"))
    assert queue.take(1) == (opened("new"),)
    queue.push(header("x"))
    assert queue.take(EVERYTHING) == (header("x"),)


def test_of_what_is_at_work_only_the_last_list_is_kept() -> None:
    """A list of n tasks is sent n times while they begin."""
    ops = take_all(*(SetWork(("task",) * count) for count in range(1000)))
    assert ops == (SetWork(("task",) * 999),)


def test_the_tools_of_each_tool_server_are_what_was_told_last() -> None:
    def told(number: int, name: str) -> tuple[ViewOp, ...]:
        server = SetToolServer({"server_name": "eca", "name": name, "tools": number})
        return server, SetTools("eca", [{"name": f"tool {number}"}], name)

    assert take_all(*told(1, "a"), *told(2, "b"), *told(3, "a")) == (*told(2, "b"), *told(3, "a"))


def test_what_an_autocommand_can_see_is_not_overtaken() -> None:
    asked = Emit("EcaApprovalRequested", {"id": "1"})
    first, second = SetPending([{"id": "1", "detail": ""}]), SetPending([])
    assert take_all(first, asked, second) == (first, asked, second)


def test_statuses_of_two_chats_are_both_kept() -> None:
    assert take_all(status(1), status(2, "b")) == (status(1), status(2, "b"))


def test_a_state_that_was_taken_does_not_hide_the_next() -> None:
    queue = OpQueue()
    queue.push(status(1))
    assert queue.take(1) == (status(1),)
    queue.push(text("a"))
    queue.push(status(2))
    assert queue.take(EVERYTHING) == (text("a"), status(2))
    assert not queue.ops


def test_text_is_cut_at_a_line_break_when_one_fits() -> None:
    queue = OpQueue()
    lines, rest = "one\ntwo\n", "x" * (PIECE - 1)
    queue.push(text(lines + rest))
    assert queue.take(1) == (text(lines),)
    assert queue.take(EVERYTHING) == (text(rest),)


def test_text_without_a_line_break_is_cut_between_code_points() -> None:
    queue = OpQueue()
    queue.push(text("é" * (PIECE + 6)))
    assert queue.take(1) == (text("é" * PIECE),)
    assert queue.take(EVERYTHING) == (text("é" * 6),)


def test_empty_text_is_nothing_to_draw() -> None:
    assert take_all(text("")) == ()


OPS = st.one_of(
    st.builds(text, st.text("ab\né", max_size=12), st.integers(1, 3)),
    st.builds(status, st.integers(0, 3)),
    st.builds(header, st.sampled_from("xyz"), st.integers(1, 3)),
    st.builds(CloseBlock, st.just("a"), st.integers(1, 3)),
    st.builds(Emit, st.just("EcaStatusChanged"), st.just({})),
)


def effect(ops: list[ViewOp]) -> tuple[object, ...]:
    """Return what is seen in the end: text by block, last states, all that happened in order."""
    shown: dict[object, object] = {}
    happened: list[ViewOp] = []
    for op in ops:
        match op:
            case AppendText():
                shown[op.block] = f"{shown.get(op.block, '')}{op.text}"
            case SetHeader():
                shown["header", op.block] = op.header
            case SetStatus():
                shown["status"] = op.status
            case _:
                happened.append(op)
    return {key: value for key, value in shown.items() if value != ""}, happened


@given(st.lists(OPS, max_size=30), st.integers(1, 40))
def test_frames_show_what_the_ops_showed(ops: list[ViewOp], size: int) -> None:
    queue = OpQueue()
    for op in ops:
        queue.push(op)
    drawn: list[ViewOp] = []
    while queue.ops:
        drawn += queue.take(size)
    assert effect(drawn) == effect(ops)


@given(st.lists(OPS, max_size=20), st.lists(OPS, max_size=20), st.integers(1, 20))
def test_taking_in_between_changes_nothing(
    before: list[ViewOp], after: list[ViewOp], size: int
) -> None:
    queue = OpQueue()
    drawn: list[ViewOp] = []
    for op in before:
        queue.push(op)
    drawn += queue.take(size)
    for op in after:
        queue.push(op)
    while queue.ops:
        drawn += queue.take(size)
    assert effect(drawn) == effect(before + after)


def test_the_first_frame_goes_at_once_and_the_next_after_an_interval() -> None:
    queue = FrameQueue()
    assert queue.due() is None
    queue.push([text("a")])
    first = queue.take(10.0)
    assert first == Frame(1, (text("a"),))
    queue.push([text("b")])
    assert queue.due() is None, "one is on its way"
    queue.drawn(1, 1.0)
    assert queue.due() == 10.0 + INTERVAL
    assert queue.take(10.0 + INTERVAL / 2) is None
    assert queue.take(10.0 + INTERVAL) == Frame(2, (text("b"),))


def test_a_burst_of_text_does_not_wait() -> None:
    queue = FrameQueue()
    queue.push([text("a")])
    queue.take(10.0)
    queue.drawn(1, 1.0)
    queue.push([text("b" * (BURST - 1))])
    assert queue.due() == 10.0 + INTERVAL
    queue.push([text("b")])
    assert queue.take(10.001) == Frame(2, (text("b" * BURST),))
    queue.drawn(2, 1.0)
    queue.push([text("c")])
    assert queue.due() == 10.001 + INTERVAL


def test_what_is_new_to_the_user_does_not_wait() -> None:
    queue = FrameQueue()
    queue.push([text("a")])
    queue.take(10.0)
    queue.drawn(1, 1.0)
    queue.push([text("b")])
    queue.push([CloseBlock("chat", 1)])
    assert queue.take(10.001) == Frame(2, (text("b"), CloseBlock("chat", 1)))


def test_with_more_than_fits_frames_go_back_to_back() -> None:
    queue = FrameQueue()
    queue.push([text("x" * FIRST_FRAME * 3)])
    first = queue.take(0.0)
    assert first is not None
    assert written(list(first.ops)) == "x" * FIRST_FRAME
    queue.drawn(1, 1.0)
    assert queue.take(0.001) is not None


@given(st.lists(st.text("ab\n", min_size=1, max_size=12), max_size=20), st.integers(1, 20))
def test_text_is_cut_anywhere_and_stays_whole(texts: list[str], room: int) -> None:
    queue = OpQueue()
    for each in texts:
        queue.push(text(each * PIECE))
    drawn: list[ViewOp] = []
    while queue.ops:
        drawn += queue.take(room * PIECE)
        assert len(written(drawn[-1:])) < (room + 1) * PIECE
    assert written(drawn) == "".join(each * PIECE for each in texts)
    assert queue.characters == 0


@pytest.mark.parametrize("milliseconds", [0.1, GOAL_MS * 10])
def test_a_frame_grows_while_drawing_is_quick_and_shrinks_when_it_is_slow(
    milliseconds: float,
) -> None:
    queue = FrameQueue()
    queue.push([text("x" * 5_000_000)])
    sizes = [len(written(list(frame.ops))) for frame in drain(queue, milliseconds)]
    assert sum(sizes) == 5_000_000
    limit = LARGEST_FRAME if milliseconds < GOAL_MS else SMALLEST_FRAME
    assert sizes[len(sizes) // 2] == limit


@pytest.mark.parametrize(("queued", "shrinks"), [(BACKLOG // 2, True), (BACKLOG * 2, False)])
def test_frames_may_take_longer_while_much_is_queued(queued: int, shrinks: bool) -> None:
    queue = FrameQueue()
    queue.push([text("x" * queued)])
    first, second, *_ = drain(queue, GOAL_MS * 2)
    assert (len(written(list(second.ops))) < len(written(list(first.ops)))) is shrinks


def test_the_last_frames_of_a_backlog_are_as_large_as_those_before() -> None:
    queue = FrameQueue()
    queue.push([text("x" * (BACKLOG + FIRST_FRAME))])
    sizes = [len(written(list(frame.ops))) for frame in drain(queue, GOAL_MS * 2)]
    assert sizes[:3] == [FIRST_FRAME] * 3


def test_five_megabytes_arrive_whole() -> None:
    content = "".join(f"line {number} — ünïcode 😀\n" for number in range(200_000))
    assert len(content.encode()) > 5_000_000
    queue = FrameQueue()
    queue.push([OpenBlock("a", 1, BlockKind.ASSISTANT), text(content), CloseBlock("a", 1)])
    frames = drain(queue)
    ops = [op for frame in frames for op in frame.ops]
    assert written(ops) == content
    assert ops[0] == OpenBlock("a", 1, BlockKind.ASSISTANT)
    assert ops[-1] == CloseBlock("a", 1)
    assert all(op.text.endswith("\n") for op in ops if isinstance(op, AppendText))


def test_a_block_is_opened_with_its_text_unless_that_is_long() -> None:
    short = OpenBlock("a", 1, BlockKind.ASSISTANT, text="x" * PIECE, closed=True)
    assert take_all(short) == (short,)
    long = "x" * (PIECE + 1)
    assert take_all(replace(short, text=long)) == (
        replace(short, text="", closed=False),
        text(long),
        CloseBlock("a", 1),
    )
    assert len(take_all(replace(short, text=long, closed=False))) == 2


def test_nothing_is_lost_while_no_frame_is_drawn() -> None:
    queue = FrameQueue()
    queue.push([text("a")])
    assert queue.take(0.0) is not None
    for number in range(1000):
        queue.push([text("b"), status(number)])
    assert queue.take(1000.0) is None
    queue.drawn(1, 1.0)
    assert queue.take(1000.0) == Frame(2, (text("b" * 1000), status(999)))


def test_tokens_of_a_block_are_one_op_while_no_frame_is_drawn() -> None:
    queue = OpQueue()
    for number in range(2 * PIECE // 8 + 1):
        queue.push(text(f"{number:8}"))
    assert [len(op.text) for op in queue.ops.values() if isinstance(op, AppendText)] == [
        *(PIECE, PIECE, 8)
    ]


def test_an_acknowledgement_of_another_frame_changes_nothing() -> None:
    queue = FrameQueue()
    queue.push([text("a")])
    queue.take(0.0)
    queue.push([text("b")])
    queue.drawn(7, 1.0)
    assert queue.due() is None
