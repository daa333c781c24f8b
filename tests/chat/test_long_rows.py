"""No row of the view is too long."""

from hypothesis import given
from hypothesis import strategies as st
from tests.chat.driver import Driver, said

from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.text.output import LONGEST, break_rows, rows_of
from eca_nvim.chat.user_actions.search import places

PIECES = st.lists(
    st.one_of(st.integers(0, LONGEST + 9).map("x".__mul__), st.sampled_from(["\n", "a\n\nb", ""])),
    max_size=6,
)


def test_a_line_without_an_end_goes_on_in_new_rows() -> None:
    driver = Driver()
    driver.run()
    driver.hear(*said(*["word " * 100] * 50))
    rows = driver.view.lines[1:]
    assert [len(row) for row in rows] == [LONGEST, LONGEST, LONGEST, 1000]
    assert "".join(rows) == "word " * 5000
    assert "word " * 5000 in transcript(driver.chat, 0)
    assert [place.line for place in places(driver.chat, 0)][-4:] == rows


@given(PIECES)
def test_pieces_are_broken_as_the_whole_is(pieces: list[str]) -> None:
    text, shown, column = "".join(pieces), "", 0
    for piece in pieces:
        told, column = break_rows(piece, column)
        shown += told
    assert shown == "\n".join(rows_of(text))
    assert max(map(len, shown.split("\n"))) <= LONGEST
    lines = iter(shown.split("\n"))
    for line in text.split("\n"):
        assert "".join(next(lines) for _ in range(max(1, -(-len(line) // LONGEST)))) == line
