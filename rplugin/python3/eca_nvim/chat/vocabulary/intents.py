"""Intents: everything a user can do. The Lua side sends them as (name, payload table).

Lua creates chat ids (UUIDs), so that the user can write to a chat before the host runs. Lines are
1-based, columns 1-based in bytes; paths are absolute. An answer to a request has the digest of what
was shown (op `pending`): it is not sent if the request has changed since.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from eca_nvim.chat.vocabulary import (  # noqa: F401 - all intents
    bases,
    completion,
    login,
    panels,
    previews,
    query_intents,
)

Intent: TypeAlias = bases.Intent


class MalformedIntent(ValueError):
    """Raised when the editor sends an unknown intent, or one with a wrong or missing field."""


class Attach(Intent, frozen=True, tag="attach"):
    """First message of an editor, with its settings; repeated when they change.

    settings: the validated options table; folders: absolute paths of the workspace; added: those
    that the user has added since; editor: name and version of the editor; pid: its process id.
    """

    settings: Mapping[str, object]
    folders: Sequence[str]
    editor: str
    pid: int
    added: Sequence[str] = ()


class OpenChat(bases.ChatIntent, frozen=True, tag="open_chat"):
    """A chat's windows were opened.

    redraw: its buffer has lost its text; draw all of it. server: the name of the server that a new
    or empty chat belongs to, None for the default one.
    """

    redraw: bool = False
    server: str | None = None


class SendPrompt(bases.ChatIntent, frozen=True, tag="prompt"):
    """Send a prompt. While a turn runs it steers, or waits if `queue` is true.

    contexts: tables (`contexts.parse_context`), collected when the prompt was sent. server: as in
    `open_chat`. typed: what the user typed for it, to be offered again; None: nothing.
    """

    text: str
    contexts: Sequence[object] = ()
    queue: bool = False
    request: int | None = None
    server: str | None = None
    typed: str | None = None


class Unqueue(bases.ChatIntent, frozen=True, tag="unqueue"):
    """Remove a queued prompt, by its place in the queue (1-based).

    edit: put its text back into the input.
    """

    index: int
    edit: bool = False


class StopTurn(bases.ChatIntent, frozen=True, tag="stop"):
    """Stop the running turn."""

    request: int | None = None


class Decide(bases.BlockIntent, frozen=True, tag="decide"):
    """Answer a waiting tool call by the id of a choice; None rejects it where none does.

    reason: of a rejection; it becomes the next prompt when the turn has ended.
    """

    digest: str
    choice: str | None = None
    reason: str | None = None
    request: int | None = None


class ToggleHunk(bases.BlockIntent, frozen=True, tag="toggle_hunk"):
    """Take a hunk of a change that waits, or leave it out, by its number in op `pending`.

    digest: of the request as it was shown. unsaved: the texts of files that have unsaved changes,
    by path, as in the intents below. The answer is true.
    """

    digest: str
    hunk: int
    taken: bool
    unsaved: Mapping[str, str] = {}
    request: int | None = None


class EditProposal(bases.BlockIntent, frozen=True, tag="edit_proposal"):
    """The user has edited what a call that waits proposes for a file (0-based, `file`).

    text: what stands there now. line: take or leave out the hunk at this line of it (1-based).

    The answer is a table: digest (of the request that these texts show), text (what stands there
    now), left_out (pairs: a line, and the number of the hunk that is left out there).
    """

    request: int
    digest: str
    file: int
    text: str
    line: int | None = None
    unsaved: Mapping[str, str] = {}


class AllowHunks(bases.BlockIntent, frozen=True, tag="allow_hunks"):
    """Allow some hunks of a change that waits, by their numbers in op `pending`.

    choice: the id of an answer that allows it.
    """

    digest: str
    hunks: Sequence[int]
    choice: str
    unsaved: Mapping[str, str] = {}
    request: int | None = None


class AnswerQuestion(bases.BlockIntent, frozen=True, tag="answer"):
    """Answer a question; None cancels it, or declines a form or a link.

    picked: the numbers of choices of a form's field (1-based), instead of a text.
    """

    digest: str
    text: str | None = None
    picked: Sequence[int] | None = None
    request: int | None = None


class PreviousField(bases.BlockIntent, frozen=True, tag="previous_field"):
    """Ask the field of a form that was asked before again."""

    digest: str


class ToggleBlock(bases.BlockIntent, frozen=True, tag="toggle"):
    """Open or collapse a block; `open` None toggles it, `block` 0 means all blocks."""

    open: bool | None = None


class ActOnBlock(bases.BlockIntent, frozen=True, tag="act"):
    """Open the image or link of a block (<CR>)."""


class RequestDiff(bases.BlockIntent, frozen=True, tag="diff"):
    """Show the diff tab of the tool call in a block.

    instead: chat and block of another call, shown if this one changes no file. file: which of the
    files that it changes (0-based, modulo their number).
    """

    instead: tuple[str, int] | None = None
    file: int = 0


class Choose(bases.ChatIntent, frozen=True, tag="choose"):
    """Set an option of a chat: text for a select, a boolean for a toggle.

    option: its id, or its category if there are no options yet.
    """

    option: str
    value: object


class SetTrust(bases.ChatIntent, frozen=True, tag="trust"):
    """Let a chat's tools run without asking, or make them ask again."""

    trusted: bool


class KeepDraft(bases.ChatIntent, frozen=True, tag="keep_draft"):
    """Save the unsent text of a chat's input; it may be empty."""

    text: str


class StartServer(Intent, frozen=True, tag="start"):
    """Start or restart a server; its chats stay. `server`: its name, None for the default one."""

    restart: bool = False
    server: str | None = None


class QuitServer(Intent, frozen=True, tag="quit"):
    """Shut down a server; its chats stay. `server`: its name, None for the default one."""

    server: str | None = None


class FrameDrawn(Intent, frozen=True, tag="drawn"):
    """Acknowledge a frame that has been drawn; `ms` is the time drawing took."""

    frame: int
    ms: float


class CallReturned(Intent, frozen=True, tag="returned"):
    """The editor's reply to a call of the host, by the call's number."""

    call: int
    ok: bool
    value: object = None


def _kinds(base: type[Intent]) -> Iterator[type[Intent]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)


INTENTS: Mapping[str, type[Intent]] = {
    name: kind for kind in _kinds(Intent) if isinstance(name := kind.__struct_config__.tag, str)
}


def parse_intent(name: str, payload: Mapping[str, object]) -> Intent:
    """Build the intent with this name from its payload; unknown keys are an error.

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
