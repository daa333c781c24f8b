"""git's diff as a text for the agent: what it has, its bounds, and why there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support import processes

from eca_nvim.session.files import late_contexts
from eca_nvim.session.files.late_contexts import NoDiff, read_diff, run_bounded

pytestmark = pytest.mark.anyio


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, "-C", str(folder), *words], check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a repository with one commit."""
    git(tmp_path, "init")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("one\ntwo\n")
    (tmp_path / "old.txt").write_text("old\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    return tmp_path


async def why_none(folder: Path) -> str:
    with pytest.raises(NoDiff) as raised:
        await read_diff(str(folder))
    assert "\n" not in str(raised.value)
    return str(raised.value)


async def test_it_has_what_is_staged_and_not_and_names_new_files(folder: Path) -> None:
    (folder / "src" / "a.py").write_text("one\nTWO\n")
    (folder / "old.txt").unlink()
    git(folder, "add", "old.txt")
    (folder / "nëw\n\x1b[31m.txt").write_text("x")
    (folder / os.fsdecode(b"\xff")).write_text("x")
    diff = await read_diff(str(folder / "src"))
    assert "-two\n+TWO" in diff.content
    assert "deleted file mode" in diff.content
    assert diff.cut is None
    new = diff.content.partition("New files that git does not track:\n")[2].splitlines()
    assert sorted(new) == ["nëw\ufffd\ufffd[31m.txt", "\ufffd"]


async def test_without_a_commit_it_has_what_is_staged(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / "a").write_text("new line\n")
    git(tmp_path, "add", "a")
    assert "+new line" in (await read_diff(str(tmp_path))).content


async def test_why_there_is_none_is_one_line_with_a_remedy(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await why_none(folder) == "nothing has changed since the last commit"
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert await why_none(elsewhere) == "the working folder is in no git repository: :cd into one"
    assert "no git repository" in await why_none(folder / "gone")
    monkeypatch.setenv("PATH", str(elsewhere))
    assert await why_none(folder) == "git is not installed: install it, or name the files instead"
    hanging = elsewhere / "git"
    hanging.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    hanging.chmod(0o755)
    monkeypatch.setattr(late_contexts, "SECONDS", 0.1)
    assert await why_none(folder) == "git did not answer within 0.1 s: name the files instead"


async def test_a_long_diff_is_cut_at_a_line(folder: Path) -> None:
    (folder / "src" / "a.py").write_text("another line\n" * 100_000)
    (folder / "new").touch()
    diff = await read_diff(str(folder))
    assert len(diff.content) < late_contexts.MOST_BYTES + 1000
    assert diff.cut is not None
    body, _, rest = diff.content.partition("\n\n[cut: these are ")
    assert body.endswith("+another line")
    assert diff.cut == f"the first {body.count(chr(10)) + 1} lines of a longer diff"
    assert rest.endswith("New files that git does not track:\nnew")


async def test_no_program_of_the_repository_is_started(folder: Path) -> None:
    (folder / "src" / "a.py").write_text("one\nTWO\n")
    (folder / ".gitattributes").write_text("*.py diff=evil\n")
    evil = f"touch {folder}/owned; true"
    for name in ("core.fsmonitor", "diff.external", "diff.evil.command", "diff.evil.textconv"):
        git(folder, "config", name, evil)
    git(folder, "config", "core.pager", evil)
    assert "+TWO" in (await read_diff(str(folder))).content
    assert not (folder / "owned").exists()


def test_a_program_is_bounded_and_leaves_nothing(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], processes.MARKER: str(tmp_path)}
    endless = ["sh", "-c", "yes & yes"]
    output = run_bounded(endless, environment, most=1000, seconds=60)
    assert (len(output.content), output.status, output.succeeded) == (1000, None, False)
    silent = run_bounded(["sh", "-c", "sleep 1000"], environment, most=10, seconds=0.01)
    assert (silent.content, silent.status) == (b"", None)
    asked = [sys.executable, "-c", "import os; print(os.getsid(0))"]
    session = run_bounded(asked, environment, most=100, seconds=60)
    assert int(session.content) == os.getsid(0)  # the guardian ends sessions
    failed = run_bounded(["sh", "-c", "printf x; exit 3"], environment, most=10, seconds=60)
    assert (failed.content, failed.status) == (b"x", 3)
    assert processes.wait_gone(processes.marked(str(tmp_path)), 60) == set()
