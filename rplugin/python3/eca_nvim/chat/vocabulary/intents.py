"""Intents: all that a user can do. The Lua side sends them as (name, payload table).

Rules kept here:
- One frozen class an intent; the payload's keys are its fields. `lua/eca/host/intents.lua` lists
  the same names and fields; a test holds the two equal.
- Chat ids are minted in Lua (UUIDs), so a chat can be written to before the host runs.
- Lines are 1-based, columns 1-based in bytes; paths absolute.
- What changes the status of its chat may carry a number, `request`: the op `answer` with it says
  that the intent is done.
- An answer names what it answers by chat and block, and carries the digest of what was shown of it
  (op `pending`): what is another by now is not answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary.history_intents import (
    AddFlag,
    ClearMessages,
    DeleteChat,
    ForkChat,
    ListChats,
    LoadOlder,
    RemoveFlag,
    RenameChat,
    ResumeChat,
    Rollback,
)
from eca_nvim.chat.vocabulary.query_intents import (
    Grep,
    RequestImage,
    RequestOutput,
    RequestTimeline,
    RequestTranscript,
    Reveal,
)
from eca_nvim.chat.vocabulary.review_intents import (
    FileWritten,
    KeepChanges,
    ListChanges,
    ListFiles,
    PlanUndo,
    ShowCheckpoint,
    UndoTurn,
)


class MalformedIntent(ValueError):
    """Raised when the editor sent an intent that is not in this file, or lacks a field."""


class Attach(Struct, frozen=True):
    """First word of an editor: its settings and where it works; again when settings changed.

    settings: the validated options table; folders: absolute paths of the workspace; editor: name
    and version of the editor; pid: its process id.
    """

    name: ClassVar[str] = "attach"
    settings: Mapping[str, object]
    folders: Sequence[str]
    editor: str
    pid: int


class OpenChat(Struct, frozen=True):
    """A chat's windows were made. `redraw`: its buffer has lost its text, all of it is wanted."""

    name: ClassVar[str] = "open_chat"
    chat: str
    redraw: bool = False


class SendPrompt(Struct, frozen=True):
    """Send a prompt. While a turn runs it steers, or waits when `queue` is true.

    contexts: tables as `eca.add_context` takes them, collected when the prompt was sent.
    """

    name: ClassVar[str] = "prompt"
    chat: str
    text: str
    contexts: Sequence[Mapping[str, object]] = ()
    queue: bool = False
    request: int | None = None


class Unqueue(Struct, frozen=True):
    """Take a waiting prompt back, by its place (1-based) in the queue shown.

    edit: its text goes back into the input.
    """

    name: ClassVar[str] = "unqueue"
    chat: str
    index: int
    edit: bool = False


class StopTurn(Struct, frozen=True):
    """Stop the running turn."""

    name: ClassVar[str] = "stop"
    chat: str
    request: int | None = None


class Approve(Struct, frozen=True):
    """Accept a waiting tool call, for the session when `remember`."""

    name: ClassVar[str] = "approve"
    chat: str
    block: int
    digest: str
    remember: bool = False
    request: int | None = None


class Reject(Struct, frozen=True):
    """Refuse a waiting tool call; `reason` is sent as the next prompt when the turn has ended."""

    name: ClassVar[str] = "reject"
    chat: str
    block: int
    digest: str
    reason: str | None = None
    request: int | None = None


class AnswerQuestion(Struct, frozen=True):
    """Answer a question; None cancels it."""

    name: ClassVar[str] = "answer"
    chat: str
    block: int
    digest: str
    text: str | None = None
    request: int | None = None


class AnswerLogin(Struct, frozen=True):
    """Return the login that runs in a chat what it asks for: a secret."""

    name: ClassVar[str] = "login"
    chat: str
    text: str


class ToggleBlock(Struct, frozen=True):
    """Open or collapse a block; `open` None turns it round, `block` 0 means all of the chat."""

    name: ClassVar[str] = "toggle"
    chat: str
    block: int
    open: bool | None = None


class ActOnBlock(Struct, frozen=True):
    """Do what a block offers under <CR> beyond toggling: open its image or link."""

    name: ClassVar[str] = "act"
    chat: str
    block: int


class RequestDiff(Struct, frozen=True):
    """Show the diff tab of the tool call in a block.

    `instead`: the chat and the block of a call to show where that one changes no file.
    """

    name: ClassVar[str] = "diff"
    chat: str
    block: int
    instead: tuple[str, int] | None = None


class Choose(Struct, frozen=True):
    """Choose model, agent, variant (text) or trust (bool) for a chat."""

    name: ClassVar[str] = "choose"
    chat: str
    what: str
    value: object


class KeepPrompt(Struct, frozen=True):
    """The user typed and sent a prompt: it belongs to the history."""

    name: ClassVar[str] = "keep_prompt"
    text: str


class KeepDraft(Struct, frozen=True):
    """What is typed in a chat's input and not sent; maybe nothing any more."""

    name: ClassVar[str] = "keep_draft"
    chat: str
    text: str


class StartServer(Struct, frozen=True):
    """Start the agent's process, or start it again; chats stay. `demo`: the built-in agent."""

    name: ClassVar[str] = "start"
    restart: bool = False
    demo: bool = False


class QuitServer(Struct, frozen=True):
    """End the agent's process politely; chats stay."""

    name: ClassVar[str] = "quit"


class FrameDrawn(Struct, frozen=True):
    """A frame is on the screen (acknowledgement); `ms` is how long drawing took."""

    name: ClassVar[str] = "drawn"
    frame: int
    ms: float


class CallReturned(Struct, frozen=True):
    """The answer of the editor to a call of the host, by its number."""

    name: ClassVar[str] = "returned"
    call: int
    ok: bool
    value: object = None


AnsweredIntent: TypeAlias = SendPrompt | StopTurn | Approve | Reject | AnswerQuestion
"""Intents of which the editor waits to know that they are done."""

Intent: TypeAlias = (
    Attach
    | OpenChat
    | SendPrompt
    | Unqueue
    | StopTurn
    | Approve
    | Reject
    | AnswerQuestion
    | AnswerLogin
    | ToggleBlock
    | ActOnBlock
    | RequestDiff
    | Grep
    | Reveal
    | RequestOutput
    | RequestImage
    | KeepPrompt
    | KeepDraft
    | Choose
    | RequestTranscript
    | ListChats
    | ResumeChat
    | LoadOlder
    | RequestTimeline
    | RenameChat
    | ClearMessages
    | DeleteChat
    | Rollback
    | ForkChat
    | AddFlag
    | RemoveFlag
    | ListChanges
    | KeepChanges
    | PlanUndo
    | UndoTurn
    | ShowCheckpoint
    | ListFiles
    | FileWritten
    | StartServer
    | QuitServer
    | FrameDrawn
    | CallReturned
)

INTENTS: Mapping[str, type[Intent]] = {
    kind.name: kind
    for kind in (
        Attach,
        OpenChat,
        SendPrompt,
        Unqueue,
        StopTurn,
        Approve,
        Reject,
        AnswerQuestion,
        AnswerLogin,
        ToggleBlock,
        ActOnBlock,
        RequestDiff,
        Grep,
        Reveal,
        RequestOutput,
        RequestImage,
        KeepPrompt,
        KeepDraft,
        Choose,
        RequestTranscript,
        ListChats,
        ResumeChat,
        LoadOlder,
        RequestTimeline,
        RenameChat,
        ClearMessages,
        DeleteChat,
        Rollback,
        ForkChat,
        AddFlag,
        RemoveFlag,
        ListChanges,
        KeepChanges,
        PlanUndo,
        UndoTurn,
        ShowCheckpoint,
        ListFiles,
        FileWritten,
        StartServer,
        QuitServer,
        FrameDrawn,
        CallReturned,
    )
}


def parse_intent(name: str, payload: Mapping[str, object]) -> Intent:
    """Build the intent of a name from its payload; keys it does not know are an error.

    Raises MalformedIntent naming the intent and the field.
    """
    kind = INTENTS.get(name)
    if kind is None:
        raise MalformedIntent(f"unknown intent {name!r}")
    known = kind.__struct_fields__
    if strange := sorted(payload.keys() - set(known)):
        raise MalformedIntent(f"intent {name!r} has no field {strange[0]!r}")
    required = known[: len(known) - len(kind.__struct_defaults__)]
    if missing := sorted(set(required) - payload.keys()):
        raise MalformedIntent(f"intent {name!r} lacks the field {missing[0]!r}")
    build: Callable[..., Intent] = kind
    return build(**payload)
