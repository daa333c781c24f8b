"""A program that cannot be started: one line, with a remedy."""

import os
from pathlib import Path

import pytest

from eca_nvim.transport import StartError, open_connection

pytestmark = pytest.mark.anyio


async def start(command: list[str], cwd: Path | None = None, path: str | None = None) -> StartError:
    env = None if path is None else {**os.environ, "PATH": path}
    folder = None if cwd is None else str(cwd)
    with pytest.raises(StartError) as raised:
        async with open_connection(command, print, env=env, cwd=folder):
            pytest.fail("it started")
    assert "\n" not in str(raised.value)
    return raised.value


def program(path: Path, text: str, mode: int = 0o755) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("path", [None, "/nowhere"])
async def test_a_program_that_is_not_on_path(path: str | None) -> None:
    error = await start(["no-such-eca", "server"], path=path)
    assert str(error) == "'no-such-eca' is not on PATH: install it or give its whole path"


async def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    error = await start([str(tmp_path / "eca")])
    assert str(error).endswith("does not exist: correct the path")


async def test_a_file_that_is_not_executable(tmp_path: Path) -> None:
    error = await start([str(program(tmp_path / "eca", "#!/bin/sh\n", 0o644))])
    assert str(error).endswith("is not executable: allow it with chmod +x")


async def test_a_folder_as_program(tmp_path: Path) -> None:
    assert "is not executable" in str(await start([str(tmp_path)]))


async def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    error = await start([str(program(tmp_path / "eca", "\x7fELF but not really"))])
    assert "not built for this machine" in str(error)


async def test_a_script_whose_interpreter_is_missing(tmp_path: Path) -> None:
    error = await start([str(program(tmp_path / "eca", "#!/no/such/interpreter\n"))])
    assert "interpreter" in str(error)


async def test_a_folder_to_start_in_that_does_not_exist(tmp_path: Path) -> None:
    error = await start(["sh"], cwd=tmp_path / "gone")
    assert "gone" in str(error)
    assert str(error).endswith("start in another folder")


@pytest.mark.parametrize("command", [[], ["a\0b"]])
async def test_what_is_no_command(command: list[str]) -> None:
    assert "command" in str(await start(command))


async def test_an_argument_list_that_is_too_long() -> None:
    error = await start(["sh", "x" * 10_000_000])
    assert "does not start" in str(error)
