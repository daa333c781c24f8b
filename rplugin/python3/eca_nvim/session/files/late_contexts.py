"""Late contexts: what takes a while to read, and so is read when its prompt is sent: git's diff.

Rules kept here:
- The program gets no input, and its environment leads nowhere near the editor.
- When its time is up, or it has printed enough, it is killed with all that it has started. It stays
  in the host's session, so that the guardian ends it if the host is killed meanwhile.
- Its time is up also if what it has left behind, out of its process group, keeps its output open.
- It shows what differs from the last commit, staged or not, and names the new files that git does
  not track.
- It is bounded: so many bytes, so many seconds. The end is cut off, with a line that says so.
- No program that the repository's configuration names for diffs is started, nor any in its
  submodules, and nothing is fetched or written.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from shutil import which
from typing import Final

from msgspec import Struct

from eca_nvim.chat.vocabulary.contexts import Context, DiffContext, TextContext
from eca_nvim.spawn import child_environment
from eca_nvim.threads import run_in_thread

_CHUNK: Final = 1 << 16
"""Bytes that are read at once."""


class ProgramOutput(Struct, frozen=True):
    """What a program has printed on stdout; `status` is None if it was killed."""

    content: bytes
    status: int | None

    @property
    def succeeded(self) -> bool:
        """Whether the program ended by itself, without an error."""
        return self.status == 0


def run_bounded(
    command: Sequence[str], env: Mapping[str, str], *, most: int, seconds: float
) -> ProgramOutput:
    """Run a program and return at most `most` bytes of its output; blocks.

    The status is None if it had more to print, or ran for longer than `seconds`. Raises OSError if
    it cannot be started.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
        process_group=0,
    ) as program:
        deadline = time.monotonic() + seconds
        try:
            assert program.stdout is not None
            content, is_whole = _read(program.stdout.fileno(), most, deadline)
            with suppress(subprocess.TimeoutExpired):
                program.wait(max(0.0, deadline - time.monotonic()) if is_whole else 0.0)
        finally:
            _kill(program)
        status = program.wait()
    return ProgramOutput(content, status if is_whole and status >= 0 else None)


def _read(output: int, most: int, deadline: float) -> tuple[bytes, bool]:
    """Read to the end, and return whether it was reached, or most bytes, or until a time."""
    parts, room = list[bytes](), most
    poll = select.poll()  # not `select`, which takes no high descriptors
    poll.register(output, select.POLLIN)
    while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        part = os.read(output, min(_CHUNK, room + 1))
        parts.append(part[:room])
        room -= len(part)
        if not part or room < 0:
            return b"".join(parts), not part
    return b"".join(parts), False


def _kill(program: subprocess.Popen[bytes]) -> None:
    """Kill a program and what it has started; does nothing once it was waited for."""
    if program.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)


MOST_BYTES: Final = 256 * 1024
"""Bytes of a diff, as of other texts that are sent (`lua/eca/context/texts.lua`)."""
_MOST_NAMES: Final = 16 * 1024
"""Bytes of the names of new files."""
SECONDS: Final = 10.0
"""Seconds that git has for all its answers."""

_SAFE: Final = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
DIFF: Final = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty")
_NEW_FILES: Final = (
    "ls-files",
    "--others",
    "--exclude-standard",
    "--directory",
    "--full-name",
    "-z",
    ":/",
)


class NoDiff(Exception):
    """Raised if there is no diff to send; the text is one line with the remedy."""


class Diff(Struct, frozen=True):
    """A diff; `cut` says what is left of it, None if that is all."""

    label: str
    content: str
    cut: str | None = None


async def read_diff(folder: str) -> Diff:
    """Read the diff of the repository that a folder is in. Raises NoDiff."""
    return await run_in_thread(partial(_read_diff, folder))


def _read_diff(folder: str) -> Diff:
    git = which("git")
    if git is None:
        raise NoDiff("git is not installed: install it, or name the files instead")
    run = partial(ask_git, git, folder, time.monotonic() + SECONDS)
    if not run(("rev-parse", "--git-dir")).succeeded:
        raise NoDiff("the working folder is in no git repository: :cd into one")
    has_commit = run(("rev-parse", "--verify", "--quiet", "HEAD")).succeeded
    changes = run((*DIFF, "HEAD") if has_commit else (*DIFF, "--cached"))
    if changes.status:
        raise NoDiff("git diff failed: see what it says in a shell")
    return _diff(changes, run(_NEW_FILES, _MOST_NAMES))


def ask_git(
    git: str,
    folder: str,
    deadline: float,
    words: Sequence[str],
    most: int = MOST_BYTES,
    index: str | None = None,
) -> ProgramOutput:
    """Run git; `index`: instead of the usual one. Raises NoDiff if it does not end in time."""
    kept = {name: it for name, it in child_environment().items() if not name.startswith("GIT_")}
    kept |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none", "GIT_PAGER": "cat"}
    kept |= {"GIT_INDEX_FILE": index} if index else {}
    try:
        command = [git, *_SAFE, "-C", folder, "--no-pager", *words]
        seconds = max(deadline - time.monotonic(), 0)
        output = run_bounded(command, kept, most=most, seconds=seconds)
    except OSError as fault:
        raise NoDiff(f"git does not start, {fault.strerror}: mend its installation") from fault
    if output.status is None and len(output.content) < most:
        raise NoDiff(f"git did not answer within {SECONDS:g} s: name the files instead")
    return output


def _diff(changes: ProgramOutput, new_files: ProgramOutput) -> Diff:
    """Join the diff and the names of new files. Raises NoDiff if there are neither."""
    text = changes.content.decode("utf-8", "replace")
    names = [os.fsdecode(name) for name in new_files.content.split(b"\0") if name]
    if not text and not names:
        raise NoDiff("nothing has changed since the last commit")
    cut = None
    if changes.status is None:
        text = text[: text.rfind("\n") + 1]
        cut = f"the first {text.count(chr(10))} lines of a longer diff"
    parts = [text.rstrip("\n")] if text else []
    if cut:
        parts.append(f"[cut: these are {cut}]")
    if names:
        shown = "\n".join(map(_one_line, names))
        parts.append(f"New files that git does not track:\n{shown}")
    return Diff("git diff", "\n\n".join(parts), cut)


def _one_line(name: str) -> str:
    """Return a file's name without line breaks and half characters."""
    plain = os.fsencode(name).decode("utf-8", "replace")
    return "".join(character if character.isprintable() else "\ufffd" for character in plain)


async def read_late(contexts: Sequence[Context]) -> tuple[Sequence[Context], Sequence[str]]:
    """Read contexts that are still to be read; the others stay as they are, in their order.

    Returns them, and lines about those that failed or were cut.
    """
    read: list[Context] = []
    notices: list[str] = []
    for context in contexts:
        if not isinstance(context, DiffContext):
            read.append(context)
            continue
        name = context.token or "@diff"
        try:
            diff = await read_diff(context.folder)
        except NoDiff as fault:
            notices.append(f"context not sent: {name}: {fault}")
            continue
        read.append(TextContext(f"{diff.label} ({name})", diff.content, context.token))
        if diff.cut is not None:
            notices.append(f"context cut: {name}: {diff.cut}")
    return read, notices
