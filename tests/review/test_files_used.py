"""How the use of a file reads."""

import pytest

from eca_nvim.chat.model.call_files import FileUse
from eca_nvim.review.files_used import use_segments


@pytest.mark.parametrize(
    ("use", "line"),
    [
        (FileUse(1), "  read    "),
        (
            FileUse(3, 2, 10, 2),
            "  read \N{MULTIPLICATION SIGN}3   changed \N{MULTIPLICATION SIGN}2  +10 -2",
        ),
        (FileUse(0, 1, 7), "            changed     +7 -0"),
        (FileUse(12, 34), "  read \N{MULTIPLICATION SIGN}12  changed \N{MULTIPLICATION SIGN}34 "),
    ],
)
def test_the_columns_stand_below_each_other(use: FileUse, line: str) -> None:
    assert "".join(text for text, _ in use_segments(use)) == line
