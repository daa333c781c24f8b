"""Prompts: chat/prompt with its contexts, placed where the server will really read them.

The server puts the files and folders of a chat's first prompt into the system prompt and keeps it
for the whole chat: files that later prompts add there are announced but not read. Files that the
message itself names are always read with the message; so are texts, images and the cursor. It never
reads pages; the model can, given the address.
"""

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, TypeAlias, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents import attached_files, recap
from eca_nvim.agents.typed_tokens import has_blank, quoted, replace_tokens
from eca_nvim.chat.vocabulary import contexts as ours
from eca_nvim.chat.vocabulary.completion import COMMAND
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    CursorContext,
    DiffContext,
    DirectoryContext,
    FileContext,
    ImageContext,
    ResourceContext,
    TextContext,
    Tokened,
    WebContext,
)
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.protocol.eca import chat as wire
from eca_nvim.protocol.eca import contexts as eca
from eca_nvim.protocol.eca import editor

Named: TypeAlias = FileContext | DirectoryContext

_READABLE = re.compile(r"/[^\s:]+")
"""Paths that the server recognises in a message."""

_READ = re.compile(r"@[/~.][^\s:]+(?::L\d+-L\d+)?")
"""Names whose files the server reads with a message."""


def name_of(context: Context) -> str | None:
    """Return the name of a context in a message; None if it has none."""
    match context:
        case WebContext(url=url):
            return url
        case FileContext(path=path) | DirectoryContext(path=path) if not _READABLE.fullmatch(path):
            return None
        case FileContext(path, int(first), int(last), _):
            return f"@{path}:L{first}-L{last}"
        case FileContext(path=path) | DirectoryContext(path=path):
            return f"@{path}"
        case _:
            return None


def append(message: str, names: Iterable[str]) -> str:
    """Append a block with the names that a message does not contain yet."""
    read = set(_READ.findall(message))
    missing = [
        name
        for name in dict.fromkeys(names)
        if name not in (read if name.startswith("@") else message)
    ]
    if not missing:
        return message
    return "\n".join([message.rstrip("\n"), "<contexts>", *missing, "</contexts>"])


_BLOCK_ENDS: Final = ("</contexts>", "</editor-state>", "</additionalContext>")
"""The ends of the blocks that the server adds to a message."""


def user_text(text: str) -> str:
    """Cut off what is for the model: the blocks that the server added at the end of a message.

    And the recap that a new chat got.
    """
    if recap.BEGIN in text:
        _, text = recap.unwrap(text)
    begin, end = len(text), len(text.rstrip())
    while text.endswith(_BLOCK_ENDS, 0, max(end, 0)):
        if (start := _last_block(text, end)) is None:
            break
        begin, end = start, start - 1
    return text[:begin]


def _last_block(text: str, end: int) -> int | None:
    """Return where the block begins that a text ends in; None if it has no beginning."""
    name = text[text.rfind("/", 0, end) + 1 : end - 1]
    start = end
    while (start := text.rfind(f"<{name}", 0, start)) >= 0:
        line_end = text.find("\n", start, end)
        opens = text[start : max(line_end, start)]
        starts_line = start == 0 or text[start - 1] == "\n"
        if starts_line and opens.endswith(">") and opens[len(name) + 1] in " >":
            return start
    return None


def spell(text: str, contexts: Iterable[Context], *, every: bool) -> str:
    """Replace typed tokens by the names that the server knows.

    every: replace all tokens; else only those it would misread. It misreads the lines of an
    absolute path: it would read the whole file.
    """
    spellings = (_spelling(context, every=every) for context in contexts)
    return replace_tokens(text, dict(filter(None, spellings)))


def _spelling(context: Context, *, every: bool) -> tuple[str, str] | None:
    if not isinstance(context, Tokened) or context.token is None:
        return None
    # A file too large to send is a text by now: in quotes, or the server would read it.
    is_by_name = isinstance(context, TextContext) and _READ.match(context.token)
    if is_by_name or has_blank(context.token):
        return context.token, quoted(context.token)
    name = name_of(context) if isinstance(context, Named) else None
    is_misread = name is not None and context.token.startswith("@/") and ":L" in name
    return (context.token, name) if name is not None and (every or is_misread) else None


_Known: TypeAlias = tuple[Context, Hashable]
"""A context without its token and text, and the state of its text or file."""


class _Chat(Struct):
    """The contexts that one chat's prompts contained."""

    opening: tuple[Context, ...]  # files and folders of the first prompt
    known: set[_Known] = field(default_factory=set)  # contexts the model has


def with_recap(prompt: Prompt, message: str) -> str:
    """Return the message to send for a prompt with its recap before it; a command has no room."""
    if not prompt.recap or COMMAND.match(prompt.text):
        return message
    return f"{recap.wrap(prompt.recap)}\n\n{message}"


class Mentions:
    """The contexts that prompts to one server process named."""

    def __init__(self) -> None:
        self.underway: dict[str, set[_Known]] = {}
        """By chat, the contexts that the model has once it answers."""
        self._chats: dict[str, _Chat] = {}
        self._typed: dict[str, str] = {}  # by the text that was sent instead

    def write(self, prompt: Prompt) -> tuple[str, tuple[Context, ...]]:
        """Return the message and the contexts to send for a prompt."""
        chat = self._chats.get(prompt.chat_id)
        takes_words = bool(COMMAND.match(prompt.text))
        message = spell(prompt.text, prompt.contexts, every=takes_words)
        if chat is None:  # the first prompt sends its contexts unchanged
            # Even a command as first prompt creates the chat's system prompt.
            opening = tuple(it for it in prompt.contexts if isinstance(it, Named))
            self._chats[prompt.chat_id] = _Chat(opening, set(map(_known, opening)))
            contexts, due = prompt.contexts, () if takes_words else prompt.contexts
            self.underway[prompt.chat_id] = set(map(_known, due))
            named = [it.url for it in contexts if isinstance(it, WebContext)]
        elif takes_words:  # a command accepts words only; contexts wait for the next prompt
            contexts, named = _repeated(chat, prompt.contexts), []
        else:
            contexts = prompt.contexts
            due = tuple(it for it in contexts if _is_typed(it) or _known(it) not in chat.known)
            self.underway[prompt.chat_id] = set(map(_known, due))
            contexts = (*_repeated(chat, prompt.contexts), *_carried(prompt.contexts, due))
            named = list(filter(None, map(name_of, due)))
        self._remember(message, prompt.text)
        sent = message if takes_words else append(message, named)
        if prompt.recap:
            sent = with_recap(prompt, sent)
        return sent, tuple(dict.fromkeys(contexts))

    def write_steer(self, text: str, contexts: Sequence[Context]) -> str:
        """Return the message to send to a running turn; it can only name files."""
        message = spell(text, contexts, every=True)
        self._remember(message, text)
        return message

    def _remember(self, sent: str, typed: str) -> None:
        if sent != typed:
            self._typed[sent.strip()] = typed

    def read(self, echo: str) -> str:
        """Return the text the user typed for the server's echo, which may join several messages."""
        if (typed := self._typed.pop(echo.strip(), None)) is not None:
            return typed
        for sent in tuple(self._typed):
            if sent in echo:
                echo = echo.replace(sent, self._typed.pop(sent))
        return echo

    def answered(self, chat_id: str) -> None:
        """Note that the model began to answer, and so has the prompt's contexts.

        The server forgets prompts that fail or are stopped before that.
        """
        self._chats[chat_id].known |= self.underway.pop(chat_id)

    def resumed(self, chat_id: str) -> None:
        """Note that a chat had its first prompt in an earlier process of the server."""
        self._chats.setdefault(chat_id, _Chat(()))

    def shortened(self, chat_id: str) -> None:
        """Note that the model may have lost messages of a chat, by a rollback or a summary."""
        if (chat := self._chats.get(chat_id)) is not None:
            pinned = set(map(_bare, chat.opening))
            chat.known = {known for known in chat.known if known[0] in pinned}

    def emptied(self, chat_id: str) -> None:
        """Note that a chat is empty: its next prompt is a first one."""
        self._chats.pop(chat_id, None)
        self.underway.pop(chat_id, None)


def _repeated(chat: _Chat, contexts: Iterable[Context]) -> tuple[Context, ...]:
    """Return the first prompt's contexts to repeat: those typed there, or given again.

    If one is missing that the user has not removed, the server announces a change.
    """
    here = set(map(_bare, contexts))
    return tuple(it for it in chat.opening if _is_typed(it) or _bare(it) in here)


def _carried(contexts: Iterable[Context], due: Sequence[Context]) -> Sequence[Context]:
    """Return contexts to send; files and folders that a message cannot name become text."""
    carried: list[Context] = []
    for context in contexts:
        match context:
            case CursorContext() | WebContext() | ResourceContext():
                carried.append(context)
            case _ if context not in due or name_of(context):
                pass
            case FileContext() | DirectoryContext():
                carried.append(attached_files.as_text(context))
            case _:
                carried.append(_bare(context))
    return carried


def _is_typed(context: Context) -> bool:
    return isinstance(context, Tokened) and context.token is not None


def _bare(context: Context) -> Context:
    """Return a context without its token."""
    if isinstance(context, Tokened) and context.token is not None:
        return replace(context, token=None)
    return context


def _known(context: Context) -> _Known:
    if isinstance(context, TextContext):  # each diff is another text: none of them is kept
        return replace(context, content="", token=None), hash(context.content)
    return _bare(context), attached_files.state(context)


# --- on the wire --------------------------------------------------------------------------------


def wire_contexts(contexts: Iterable[ours.Context]) -> tuple[eca.Context, ...]:
    """Turn contexts into ECA's, without those that are only words."""
    return tuple(filter(None, map(wire_context, contexts)))


def wire_context(context: ours.Context) -> eca.Context | None:
    """Turn a context into ECA's; None for one that is only a word of the message.

    ECA reads images from files: it drops those whose content is sent.
    """
    match context:
        case ours.FileContext(path, int(first), int(last), _):
            return eca.FileContext(path=path, lines_range=editor.LinesRange(start=first, end=last))
        case ours.FileContext(path=path) | ours.ImageContext(path=path):
            return eca.FileContext(path=path)
        case ours.DirectoryContext(path=path):
            return eca.DirectoryContext(path=path)
        case ours.WebContext(url=url):
            return eca.WebContext(url=url)
        case ours.ResourceContext(uri=uri):
            return eca.McpResourceContext(uri=uri)
        case ours.CursorContext(path, start, end):
            place = editor.Range(start=_position(start), end=_position(end))
            return eca.CursorContext(path=path, position=place)
        case ours.TextContext(label=label, content=content):
            return eca.TextContext(label=label, content=content)
        case ours.PathMention() | ours.DiffContext():
            return None
        case _:
            assert_never(context)


# ECA does not define the base of a cursor's line and character. The server passes both to the model
# ("line:character"), next to file excerpts whose lines count from 1, and its reference client
# counts both from 1. So do we, in UTF-16 code units; the end of a selection is exclusive.
def _position(position: ours.Position) -> editor.Position:
    return editor.Position(line=position.line, character=position.column)


_NOT_NAMED: Final = ImageContext | ResourceContext | TextContext | DiffContext
"""Contexts that the text of a message cannot name."""


def with_steer(contexts: Iterable[Context]) -> str | None:
    """Return a line about the contexts that words to a running turn cannot name."""
    names = _named_in_vain(contexts)
    advice = "<M-CR> or :Eca queue sends a prompt after it"
    return f"not sent to the running turn: {names}; {advice}" if names else None


def with_command(contexts: Iterable[Context]) -> str | None:
    """Return a line about the contexts that a command cannot name."""
    names = _named_in_vain(contexts)
    return f"a command takes only names of files, not sent: {names}" if names else None


def _named_in_vain(contexts: Iterable[Context]) -> str:
    return ", ".join(it.token for it in contexts if isinstance(it, _NOT_NAMED) and it.token)


class Selection(Struct, frozen=True):
    """What a chat's prompts are sent with; None or "" leaves the choice to the server."""

    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    trust: bool = False


class SelectedPrompt(Prompt, frozen=True):
    """A prompt with what it is sent with."""

    selection: Selection = Selection()


def prompt_params(
    prompt: SelectedPrompt, message: str, contexts: Iterable[Context] = ()
) -> wire.PromptParams:
    """Build chat/prompt."""
    chosen = prompt.selection
    return wire.PromptParams(
        chat_id=prompt.chat_id,
        message=message,
        model=chosen.model or None,
        agent=chosen.agent or None,
        variant=chosen.variant or None,
        contexts=wire_contexts(contexts),
        trust=chosen.trust,  # said each time: a server may otherwise assume it
    )
