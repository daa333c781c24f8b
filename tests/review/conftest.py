"""What tests of the review share: a desk with a shell beside its tools."""

from pathlib import Path

import pytest
from tests.review.watched import Watched


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """Give a desk with three files, of which one is binary and one has CRLF."""
    (tmp_path / "a").write_bytes(b"1\n2\n3\n")
    (tmp_path / "b").write_bytes(b"\xff\0binary")
    (tmp_path / "c").write_bytes(b"x\r\ny\r\n")
    return Watched(tmp_path)
