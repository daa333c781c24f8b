"""Acts: what an agent wants us to do for it, and how the user sees that.

The user sees them as calls of the agent, so that they are reviewed and undone like these.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import PurePath
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from eca_nvim.agents.acp.session import Session
from eca_nvim.agents.acp.updates.changes import WholeDiff
from eca_nvim.agents.acp.updates.known_call import line_of_shell, shell_line
from eca_nvim.chat.model.calls import changed_paths
from eca_nvim.chat.text.diffs import count_made, text_after_shown
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall
from eca_nvim.chat.vocabulary.call_details import ToolKind as CallKind
from eca_nvim.digests import new_id
from eca_nvim.path_risks import real_path
from eca_nvim.protocol.acp import content, tool_call, updates
from eca_nvim.protocol.acp.tool_call import CallLocation, CallStatus, ToolCallUpdate, ToolKind

LONGEST_SPLIT: Final = 4096
"""Characters of a shell line that is compared by its words: to split it takes quadratic time."""

_PLAIN: Final = re.compile(r"""(?:[\w@%+=:,./ \t-]|'[^']*'|"[^"$`\\!]*")*""")
"""A shell line in which nothing is expanded, and that is one command."""


class ActKind(Enum):
    """What is done."""

    READ = "read"
    WRITE = "write"
    EXECUTE = "execute"


class Act(Struct, frozen=True):
    """Something that an agent wants us to do.

    subject: the real path of a file (links are resolved once, before anybody decides), or a whole
    shell line; that of a shell (`sh -c LINE`) is LINE. words: a program and its arguments, () if a
    shell reads the line. folder: where a command runs, a real path. variables: of its environment,
    NAME=value. shown: how a call looks that does this and nothing else; its id is empty. old, new:
    the texts of the file that is written, with plain line ends if all of it `has_crlf`; old is None
    if the file is new.
    """

    kind: ActKind
    subject: str
    shown: ToolCallUpdate
    words: tuple[str, ...] = ()
    folder: str = ""
    variables: tuple[str, ...] = ()
    old: str | None = None
    new: str = ""
    has_crlf: bool = False

    def call(self, call_id: str) -> ToolCallUpdate:
        """Return a call of an agent that does this and nothing else; `call_id`: the agent's id."""
        return replace(self.shown, tool_call_id=call_id)


def read_file(path: str, line: int | None = None) -> Act:
    """Return the act of reading a file; `path` is real, `line` 1-based."""
    shown = ToolCallUpdate(
        tool_call_id="",
        title=f"read {path}",
        kind=ToolKind.READ,
        locations=(CallLocation(path, line),),
        raw_input={"path": path},
    )
    return Act(ActKind.READ, path, shown)


def write_file(path: str, old: str | None, new: str) -> Act:
    """Return the act of giving a file a new text; `path` is real, `old` is None if it is new.

    A file with CRLF at the ends of its lines keeps it: that is shown as no change.
    """
    has_crlf = False
    if old and 0 < old.count("\r\n") == old.count("\n"):
        has_crlf, old, new = True, _plain(old), _plain(new)
    shown = ToolCallUpdate(
        tool_call_id="",
        title=PurePath(path).name,
        kind=ToolKind.EDIT,
        content=(WholeDiff(path, new, old),),
        locations=(CallLocation(path),),
        raw_input={"path": path},
    )
    return Act(ActKind.WRITE, path, shown, old=old, new=new, has_crlf=has_crlf)


def run_command(words: Sequence[str], folder: str, variables: Mapping[str, str]) -> Act:
    """Return the act of running a program with its arguments; `folder` is real."""
    line = shell_line(words)
    added = tuple(f"{name}={value}" for name, value in variables.items())
    given = {"command": line, "folder": folder, **({"variables": added} if added else {})}
    shown = ToolCallUpdate(tool_call_id="", title=line, kind=ToolKind.EXECUTE, raw_input=given)
    kept_words = () if line_of_shell(words) is not None else tuple(words)
    return Act(ActKind.EXECUTE, line, shown, kept_words, folder, added)


def count_made_of(act: Act, changes: Sequence[FileChange]) -> int | None:
    """Return how many changes of a file, from the first on, are what is written; None: none."""
    plain = [*map(_plain_change, changes)] if act.has_crlf else changes
    return count_made(act.old or "", act.new, plain, text_after_shown)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _plain_change(change: FileChange) -> FileChange:
    old, new = (it if it is None else _plain(it) for it in (change.old, change.new))
    return replace(change, old=old, new=new, diff=_plain(change.diff))


def is_shown_by(act: Act, call: ToolCall) -> bool:
    """Return whether a call says that it does this, and nothing of another kind.

    Else a question about the act would read as one about the rest of the call.
    """
    match act.kind:
        case ActKind.EXECUTE:
            return not call.changes and call.command is not None and is_command(act, call.command)
        case ActKind.READ if call.kind is not CallKind.READ:
            return False
        case _:
            return call.command is None and name_in(act, call) is not None


def name_in(act: Act, call: ToolCall) -> str | None:
    """Return the path by which a call names the file of a read or write; None: it does not."""
    is_read = act.kind is ActKind.READ
    paths = [it.path for it in call.locations or ()] if is_read else changed_paths(call)
    return next((path for path in paths if act.subject in real_paths([path])), None)


def is_command(act: Act, line: str) -> bool:
    """Return whether a command is exactly a shell line, or the words of one.

    It is the words of a program only if a shell would run it so: in `rm a # b` and in `rm a; ls b`
    the words name files that the line does not remove.
    """
    if line == act.subject:
        return True
    if not act.words or len(line) > LONGEST_SPLIT or _PLAIN.fullmatch(line) is None:
        return False
    if "=" in act.words[0]:
        return False  # a shell would set a variable and run the next word
    return tuple(shlex.split(line)) == act.words


def real_paths(paths: Iterable[str]) -> frozenset[str]:
    """Return paths with all links resolved, as they are now, without those no file can have."""
    found = set[str]()
    for path in paths:
        with suppress(ValueError):
            found.add(real_path(path))
    return frozenset(found)


def new_call_id() -> str:
    """Return an id for a call of ours, which no agent can guess."""
    return f"client {new_id()}"


def begin(session: Session, act: Act, call_id: str) -> None:
    """Let a call of ours run, whether the user was asked about it or not."""
    shown = asdict(act.call(call_id)) | {"status": CallStatus.IN_PROGRESS}
    session.say(*session.inbox.receive(updates.ToolCallBegun(**shown)))


def end(session: Session, call_id: str, *, failed: bool = False, why: str = "") -> None:
    """End a call of ours; `why`: why nothing was done. What a command has printed stays."""
    ended = updates.ToolCallChanged(
        tool_call_id=call_id,
        status=CallStatus.FAILED if failed else CallStatus.COMPLETED,
        content=(tool_call.CallContent(content.TextBlock(why)),) if why else None,
    )
    session.say(*session.inbox.receive(ended))
