"""Fixtures for tests of the review: a desk with tools and a shell."""

from pathlib import Path

import pytest
from tests.review.desk import Desk
from tests.review.watched import Watched


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with three files; one is binary, one has CRLF."""
    (tmp_path / "a").write_bytes(b"1\n2\n3\n")
    (tmp_path / "b").write_bytes(b"\xff\0binary")
    (tmp_path / "c").write_bytes(b"x\r\ny\r\n")
    return tmp_path


@pytest.fixture
def desk(files: Path) -> Desk:
    """Return a desk with these files, in the first turn."""
    desk = Desk(files)
    desk.turn()
    return desk


@pytest.fixture
def watched(files: Path) -> Watched:
    """Return a desk with a shell and these files, in the first turn."""
    return Watched(files)
