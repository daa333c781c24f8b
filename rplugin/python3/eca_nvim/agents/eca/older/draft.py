"""Draft: plays the part of today's server for one of the protocol's first draft.

That draft has neither tool calls nor approvals: the server tells the client what to change, and
whether to ask the user first. Here such a proposal becomes a tool call of today's protocol, and we
make the change. A change that does not fit is an error; it is never made in part.
"""

import posixpath
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field, structs

from eca_nvim.agents.process_agent import Tasks
from eca_nvim.chat.text.diffs import DoesNotApply, apply_hunks, parse_hunks
from eca_nvim.chat.text.text_differences import hunks_between
from eca_nvim.chat.vocabulary.call_details import PartialWrite
from eca_nvim.digests import new_id
from eca_nvim.disk.replacing import remove, replace
from eca_nvim.path_risks import path_risks, real_path
from eca_nvim.paths import LARGEST_LOADED, open_regular, path_of
from eca_nvim.protocol.eca import content, draft, tool_call
from eca_nvim.protocol.eca.content import ContentReceived

Hear = Callable[[Sequence[object]], None]
"""Called with messages of today's protocol, as if the server had sent them."""

_BACKTICKS: Final = re.compile("`+")
_NO_LANGUAGE: Final = re.compile(r"[^\w+#.-]")
"""Characters that would change the meaning of the line that opens a fence."""


class DoesNotFit(ValueError):
    """Raised when changes do not fit a file; the message is one line that says why."""


class _Proposal(Struct, frozen=True):
    """A change that can be made.

    place: the real path when the change was shown; for a link that is deleted, the link itself.
    """

    chat_id: str
    id: str
    name: str
    path: str
    details: tool_call.FileChangeDetails
    place: str


class _Chat(Struct):
    """An answer of one chat: its text and its code, each block once, until it is complete."""

    spent: int = 0  # tokens of the answers before
    texts: list[str] = field(default_factory=list)
    blocks: dict[draft.CodeBlock, None] = field(default_factory=dict)
    is_answering: bool = False  # a prompt was sent, and its answer is not complete
    is_complete: bool = False  # the answer is, and the turn goes on with its proposals
    is_stopped: bool = False


class Draft:
    """The answers and proposals of one server process."""

    def __init__(self, folders: Sequence[str], tasks: Tasks, hear: Hear) -> None:
        self._folders = folders
        self._tasks = tasks
        self._hear = hear
        self._chats: dict[str, _Chat] = {}
        self.waiting: dict[str, _Proposal] = {}
        """The proposals that are not made yet, by the id of their call."""
        self._partial: dict[str, PartialWrite] = {}  # allowed in part, by the id of its call

    def prompted(self, chat_id: str) -> None:
        """Note that a prompt was sent and its answer will follow."""
        self._chat(chat_id).is_answering = True

    def forget(self, chat_id: str) -> None:
        """Forget a chat, with the tokens it used."""
        self._chats.pop(chat_id, None)

    def read(self, chat_id: str, piece: ContentReceived) -> Sequence[ContentReceived]:
        """Turn a piece of an answer into today's messages; make a change that needs no approval."""
        chat, contents = self._chat(chat_id), [shown(piece).content]
        if isinstance(piece.content, draft.FileChangeContent) and piece.content.file:
            contents = self._propose(chat_id, chat, piece.content)
        elif isinstance(piece.content, content.TextContent):
            chat.texts.append(piece.content.text)
            chat.blocks |= dict.fromkeys(piece.content.code_blocks)
        used = piece.metadata.tokens_used if piece.metadata else None
        if used is not None:  # of this answer alone
            contents.append(content.UsageContent(session_tokens=chat.spent + used))
        if piece.is_complete:
            chat.spent += used or 0
            if code := missing_code("".join(chat.texts), chat.blocks):
                contents.append(content.TextContent(text=code))
            chat.texts, chat.blocks = [], {}
            chat.is_answering, chat.is_complete = False, True
            contents += self._end(chat_id)
        return _received(chat_id, contents)

    def decide(self, chat_id: str, call_id: str, *, approved: bool) -> bool:
        """Make a waiting change, or drop it; return whether the call is a proposal."""
        proposal = self.waiting.get(call_id)
        if proposal is None or proposal.chat_id != chat_id:
            return False
        if approved:
            self._tasks.start_soon(self._make, proposal)
        else:
            self._resolve(proposal, _rejected(proposal))
        return True

    def allow_in_part(self, call_id: str, writes: Sequence[PartialWrite]) -> None:
        """Note what the file of a proposal is to hold, if it is allowed in part."""
        if call_id in self.waiting:
            self._partial[call_id] = writes[0]

    def stop(self, chat_id: str) -> bool:
        """Drop a chat's waiting and future proposals; return whether that ends the turn."""
        self._chat(chat_id).is_stopped = True
        for call_id in [key for key, it in self.waiting.items() if it.chat_id == chat_id]:
            del self.waiting[call_id]
        ends = self._end(chat_id)
        self._hear(_received(chat_id, ends))
        return bool(ends)

    def _chat(self, chat_id: str) -> _Chat:
        return self._chats.setdefault(chat_id, _Chat())

    def _propose(
        self, chat_id: str, chat: _Chat, proposed: draft.FileChangeContent
    ) -> list[content.Content]:
        """Return what a proposal is in today's protocol; start to make it if nobody is asked."""
        named, call_id = proposed.file or "", new_id()  # the draft has no ids
        said: list[content.Content] = []
        if proposed.description:
            said = [content.TextContent(text=f"\n\n{proposed.description}\n")]
        try:
            is_uri = named[:5].lower() == "file:"
            path = path_of(named if is_uri else posixpath.join(*self._folders[:1], named))
            proposal = _proposal(chat_id, call_id, path, proposed)
        except (DoesNotFit, OSError, ValueError) as fault:
            arguments = {"path": named}
            run = tool_call.ToolCallRun(id=call_id, name="edit_file", arguments=arguments)
            return [*said, run, _called(call_id, "edit_file", str(fault))]
        if chat.is_stopped:
            return [*said, _run(proposal), _rejected(proposal)]
        self.waiting[call_id] = proposal
        # Made without asking only if the server waives that in plain words, while it answers a
        # prompt, and only to an ordinary file of the workspace: not one reached by a link, nor one
        # that git or the editor obey.
        path, folders = proposal.path, self._folders
        is_inside = any(Path(path).is_relative_to(folder) for folder in folders)
        is_waived = proposed.manual_approval is False and chat.is_answering
        asks = not (is_waived and is_inside and not path_risks(path, folders))
        if not asks:
            self._tasks.start_soon(self._make, proposal)
        return [*said, _run(proposal, asks=asks)]

    async def _make(self, proposal: _Proposal) -> None:
        if proposal.id not in self.waiting:
            return
        try:
            _write(proposal, self._partial.pop(proposal.id, None))
        except (DoesNotApply, OSError, ValueError) as fault:
            self._resolve(proposal, _called(proposal.id, proposal.name, str(fault)))
        else:
            self._resolve(proposal, _called(proposal.id, proposal.name))

    def _resolve(self, proposal: _Proposal, result: content.Content) -> None:
        del self.waiting[proposal.id]
        self._hear(_received(proposal.chat_id, [result, *self._end(proposal.chat_id)]))

    def _end(self, chat_id: str) -> list[content.Content]:
        """Return the turn's end, once its answer is complete and no proposal waits."""
        chat = self._chat(chat_id)
        waits = any(it.chat_id == chat_id for it in self.waiting.values())
        if waits or not chat.is_complete:
            return []
        chat.is_complete = chat.is_stopped = False
        return [content.ProgressContent(state=content.ProgressState.FINISHED)]


def shown(received: ContentReceived) -> ContentReceived:
    """Return a proposal that is not made as a content of an unknown kind: it is only shown."""
    proposed = received.content
    if not isinstance(proposed, draft.FileChangeContent):
        return received
    changes = (change.content for change in proposed.changes)
    text = "\n".join(filter(None, [proposed.description, proposed.file, *changes]))
    unknown = content.UnknownContent(kind="fileChange", fields={"text": text})
    return structs.replace(received, content=unknown)


def _received(chat_id: str, contents: Sequence[content.Content]) -> Sequence[ContentReceived]:
    return [ContentReceived(chat_id=chat_id, content=it) for it in contents]


def _run(proposal: _Proposal, *, asks: bool = False) -> tool_call.ToolCallRun:
    return tool_call.ToolCallRun(
        id=proposal.id,
        name=proposal.name,
        arguments={"path": proposal.path},
        details=proposal.details,
        manual_approval=asks,
    )


def _called(call_id: str, name: str, fault: str | None = None) -> tool_call.ToolCalled:
    outputs = () if fault is None else (tool_call.ToolOutput(text=fault),)
    return tool_call.ToolCalled(id=call_id, name=name, error=fault is not None, outputs=outputs)


def _rejected(proposal: _Proposal) -> tool_call.ToolCallRejected:
    return tool_call.ToolCallRejected(id=proposal.id, name=proposal.name, reason="user")


# --- code ---------------------------------------------------------------------------------------


def missing_code(text: str, blocks: dict[draft.CodeBlock, None]) -> str:
    """Return the code that an answer lists and its lines do not show, in fences; "" for none.

    The draft says that the code occurs in the text, but servers differ. The cost is linear.
    """
    shown = {"", *map(str.strip, text.splitlines())} if blocks else set()
    missing = [it for it in blocks if not shown.issuperset(map(str.strip, it.code.splitlines()))]
    return "".join(map(_fenced, missing))


def _fenced(block: draft.CodeBlock) -> str:
    longest = max(map(len, _BACKTICKS.findall(block.code)), default=0)
    fence = "`" * max(3, longest + 1)
    language = _NO_LANGUAGE.sub("", block.language or "")
    return f"\n\n{fence}{language}\n{block.code.rstrip()}\n{fence}\n"


# --- files --------------------------------------------------------------------------------------


def _proposal(
    chat_id: str, call_id: str, path: str, proposed: draft.FileChangeContent
) -> _Proposal:
    before = _text(path)
    after = changed_text(before, proposed.changes)
    diff, added, removed = hunks_between(before or "", after or "")
    change = tool_call.OwnChangeDetails(
        path=path, diff=diff, lines_added=added, lines_removed=removed
    )
    if after is not None:
        name = "write_file" if before is None else "edit_file"
        return _Proposal(chat_id, call_id, name, path, change, place=real_path(path))
    folder, file = posixpath.split(path)
    place = posixpath.join(real_path(folder), file)
    return _Proposal(chat_id, call_id, "delete_file", path, change, place=place)


def _write(proposal: _Proposal, partial: PartialWrite | None) -> None:
    """Apply a change, or what the user has allowed of it, to the file as it is, where it was shown.

    Raises DoesNotApply, OSError (also if a link is in the way) and ValueError.
    """
    text = _text(proposal.place)
    if partial is not None:
        if (text or "") != (partial.before or ""):
            raise DoesNotApply("the file has other lines by now")
        if partial.allowed is not None and partial.allowed != text:
            replace(proposal.place, partial.allowed.encode())
        return
    after = apply_hunks(text or "", parse_hunks(proposal.details.diff))
    is_gone = proposal.name == "delete_file"
    if is_gone and after:
        raise DoesNotApply("the file has other lines by now")
    if is_gone:
        remove(proposal.place)
    elif text is None or after != text:
        replace(proposal.place, after.encode())


def _text(path: str) -> str | None:
    """Return a file's text with its line ends; None if there is no such file.

    Raises OSError and ValueError.
    """
    try:
        with open_regular(path) as file:
            data = file.read(LARGEST_LOADED + 1)
    except FileNotFoundError:
        return None
    if len(data) > LARGEST_LOADED:
        raise DoesNotFit(f"it is larger than {LARGEST_LOADED >> 20} MiB")
    return data.decode()


def changed_text(text: str | None, changes: Sequence[draft.ProposedChange]) -> str | None:
    """Return a file's text after some changes, None if it is deleted; `text` None: no such file.

    Line numbers are those of the unchanged file, 1-based, both ends included. Raises DoesNotFit.
    """
    whole = [change for change in changes if change.range is None or change.kind == "create"]
    if len(whole) == len(changes) == 1:
        return _whole(whole[0])
    if whole:
        raise DoesNotFit("a change of the whole file cannot be combined with others")
    if text is None:
        raise DoesNotFit("there is no such file")
    lines, ends = _lines(text)
    below = len(lines) + 1
    for first, last, replacement in sorted(map(_splice, changes), reverse=True):
        if not 1 <= first <= min(last, len(lines)) + 1 or last >= below:
            raise DoesNotFit(f"lines {first} to {last} do not exist, or are changed twice")
        lines[first - 1 : last] = replacement
        below = first
    return "\n".join(lines) + ("\n" if ends and lines else "")


def _whole(change: draft.ProposedChange) -> str | None:
    if change.kind not in ("create", "change", "delete"):
        raise DoesNotFit(f"{change.kind!r} is not a kind of change")
    return None if change.kind == "delete" else change.content or ""


def _splice(change: draft.ProposedChange) -> tuple[int, int, list[str]]:
    assert change.range is not None
    lines = _lines(_whole(change) or "")[0]
    return change.range.start_line, change.range.end_line, lines


def _lines(text: str) -> tuple[list[str], bool]:
    """Split a text into lines; return them, and whether the last one has a line feed."""
    ends = text.endswith("\n") or not text
    return text.removesuffix("\n").split("\n") if text else [], ends
