"""Messages: a session's messages and thoughts as events; contents, compactions, and ids."""

import string
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import unquote

from eca_nvim.agents.acp.prompt import typed_text
from eca_nvim.chat.text.output import as_line
from eca_nvim.chat.vocabulary import call_details, events, turn_events
from eca_nvim.chat.vocabulary.events import ChatEvent, Role, TextReceived
from eca_nvim.paths import NotAFile, path_of
from eca_nvim.protocol.acp import content, updates

_LONGEST: Final = 200
"""Most characters of something unknown that are shown."""


class CallIds:
    """Makes ids that are unique in a chat.

    life: what the ids begin with; another one for each session that a chat has, one after the
    other, because an agent that was started again begins to count again.
    """

    def __init__(self, life: str) -> None:
        self._life = life
        self._used: set[str] = set()
        self._times: Counter[str] = Counter()

    def fresh(self, remote: str) -> str:
        """Return an unused id, made of the agent's."""
        first = wanted = f"{self._life}{remote}" or "call"
        while wanted in self._used:
            self._times[first] += 1
            wanted = f"{first}#{self._times[first] + 1}"
        self._used.add(wanted)
        return wanted


def _shown(block: content.ContentBlock, role: Role) -> ChatEvent:
    match block:
        case content.TextBlock(text):
            return TextReceived(role, text)
        case content.ImageBlock("", uri=uri):
            return turn_events.LinkReceived("image", uri or "")
        case content.ImageBlock(data, media_type):
            return turn_events.ImageReceived(media_type, data)
        case content.AudioBlock():
            return turn_events.LinkReceived(block_text(block), "")
        case content.ResourceLink(uri, name, title):
            return turn_events.LinkReceived(title or name or _last_part(uri), uri)
        case content.EmbeddedResource(content.ResourceContents(uri, str(text))):
            return events.UnknownReceived(_last_part(uri), text)
        case content.EmbeddedResource(resource):
            media_type = resource.mime_type or ""
            if resource.blob and media_type.startswith("image/"):
                return turn_events.ImageReceived(media_type, resource.blob)
            return turn_events.LinkReceived(_last_part(resource.uri), resource.uri)
        case content.UnknownBlock(kind=kind, fields=fields):
            return events.UnknownReceived(kind or "content", unknown_line(fields, "type"))


def block_text(block: content.ContentBlock) -> str:
    """Return a block as text, for places that show nothing else."""
    match block:
        case content.TextBlock(text):
            return text
        case content.ImageBlock(data, media_type) | content.AudioBlock(data, media_type):
            kind = "image" if isinstance(block, content.ImageBlock) else "audio"
            return f"{media_type or kind}, {max(1, len(data) * 3 // 4 // 1024)} KB"
        case content.ResourceLink(uri, name):
            return f"{name} {uri}".strip()
        case content.EmbeddedResource(content.ResourceContents(uri, text)):
            return uri if text is None else text
        case content.UnknownBlock(fields=fields):
            return unknown_line(fields, "type")


def named_file(block: content.ContentBlock) -> str | None:
    """Return the path of the file that a block links or contains, None if it names none."""
    match block:
        case (
            content.ResourceLink(uri)
            | content.EmbeddedResource(content.ResourceContents(uri))
            | content.ImageBlock(uri=str(uri))
        ):
            whole, _, lines = uri.rpartition("#")  # as `#L3` or `#L3-L7`
            is_lines = lines[:1] == "L" and not set(lines) - {*"L-:", *string.digits}
            with suppress(NotAFile):
                return path_of(whole if whole and is_lines else uri)
    return None


def unknown_line(fields: dict[str, object], tag: str) -> str:
    """Return something unknown as one line; `tag`: the member that names what it is."""
    text = fields.get("text")
    if not isinstance(text, str) or not text:
        text = as_line({key: it for key, it in fields.items() if key not in (tag, "_meta")})
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _last_part(uri: str) -> str:
    return unquote(uri.rstrip("/").rpartition("/")[2]) or uri


_FAILURES = frozenset({updates.CompactionStatus.FAILED, updates.CompactionStatus.CANCELLED})


class Compactions:
    """The compactions of one session."""

    def __init__(self, ids: CallIds) -> None:
        self._ids = ids
        self._calls: dict[str, call_details.ToolCall] = {}

    def updated(self, update: updates.Compaction) -> Sequence[ChatEvent]:
        """Read how far a compaction is."""
        call = self._call(update.compaction_id)
        summary = "\n\n".join(map(block_text, update.summary or ()))
        match update.status:
            case updates.CompactionStatus.COMPLETED:
                return [events.ToolFinished(call, (summary,) if summary else ())]
            case status if status in _FAILURES:
                return [events.ToolFinished(call, (update.error or status.value,), failed=True)]
            case _ if summary:
                return [
                    events.ToolRunning(call),
                    events.ToolOutput(call.id, summary, replaces=True),
                ]
            case _:
                return [events.ToolRunning(call)]

    def summarized(self, chunk: updates.CompactionChunk) -> Sequence[ChatEvent]:
        """Read the next piece of a summary."""
        return [events.ToolOutput(self._call(chunk.compaction_id).id, block_text(chunk.content))]

    def _call(self, compaction_id: str) -> call_details.ToolCall:
        if compaction_id not in self._calls:
            call_id = self._ids.fresh(f"compaction {compaction_id}")
            call = call_details.ToolCall(call_id, kind=call_details.ToolKind.THINK, verb="compact")
            self._calls[compaction_id] = call
        return self._calls[compaction_id]


class Messages:
    """The messages of one session."""

    def __init__(self, ids: CallIds, *, whole_prompts: bool = False) -> None:
        self._ids = ids
        self._whole_prompts = whole_prompts
        self._message: str | None = None
        self._thought: str | None = None
        self._thought_message: str | None = None
        self._user_message: str | None = None
        self._user: list[str] = []
        self._is_echo = False

    def turn_began(self) -> Sequence[ChatEvent]:
        """Note that a prompt was sent."""
        told = self.interrupted()
        # Until the agent has said something in its turn, what the user says is the echo of the
        # prompt, which the chat shows already (vibe).
        self._is_echo = True
        return told

    def interrupted(self) -> Sequence[ChatEvent]:
        """End what is open: something else is shown, or the turn has ended."""
        self._is_echo = False
        return [*self._said(), *self._thought_through()]

    def said(self, chunk: updates.AgentMessageChunk) -> Iterator[ChatEvent]:
        """Read a piece of the agent's answer: hot path."""
        if _is_empty(chunk.content):
            return
        yield from self.interrupted()
        # Another id begins another paragraph. Agents without ids go on with the last one.
        begins = self._message not in (None, chunk.message_id)
        self._message = chunk.message_id
        block = chunk.content
        if type(block) is content.TextBlock:
            text = f"\n\n{block.text}" if begins else block.text
            yield TextReceived(Role.ASSISTANT, text)
        else:
            yield from _event(block, Role.ASSISTANT)

    def thought(self, chunk: updates.AgentThoughtChunk) -> Iterator[ChatEvent]:
        """Read a piece of a thought."""
        block = chunk.content
        if _is_empty(block):
            return
        self._is_echo = False
        yield from self._said()
        if self._thought is None or chunk.message_id != self._thought_message:
            yield from self._thought_through()
            self._thought = self._ids.fresh("thought")
            self._thought_message = chunk.message_id
            yield events.ReasoningStarted(self._thought)
        if isinstance(block, content.TextBlock):
            yield events.ReasoningText(self._thought, block.text)
        else:
            yield from _event(block, Role.ASSISTANT)

    def heard(self, chunk: updates.UserMessageChunk) -> Iterator[ChatEvent]:
        """Read a piece of what the user said."""
        if self._is_echo or _is_empty(chunk.content):
            return
        yield from self._thought_through()
        message, block = chunk.said_in, chunk.content
        is_whole = message is None and self._whole_prompts
        is_ours = isinstance(block, content.TextBlock) and not typed_text(block.text)
        if message != self._user_message or is_whole or is_ours:
            yield from self._said()
        self._user_message = message
        if isinstance(block, content.TextBlock):
            self._user.append(block.text)
        else:
            yield from self._said()
            yield from _event(block, Role.USER)

    def _said(self) -> Iterator[ChatEvent]:
        if self._user:
            text, self._user = "".join(self._user), []
            yield TextReceived(Role.USER, text, self._user_message)

    def _thought_through(self) -> Iterator[ChatEvent]:
        if self._thought is not None:
            thought, self._thought = self._thought, None
            yield events.ReasoningFinished(thought)


def _is_empty(block: content.ContentBlock) -> bool:
    # Some agents send empty texts with usage, or to begin a message (claude, qwen, fast-agent).
    return type(block) is content.TextBlock and not block.text


def _event(block: content.ContentBlock, role: Role) -> Iterator[ChatEvent]:
    yield _shown(block, role)
    if (path := named_file(block)) is not None:
        yield call_details.FileNamed(path)
