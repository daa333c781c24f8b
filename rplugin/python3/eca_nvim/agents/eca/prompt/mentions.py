"""Mentions: places the contexts of a prompt where the server will really read them.

The server puts the files and folders of a chat's first prompt into the system prompt and keeps it
for the whole chat: files that later prompts add there are announced but not read. Files that the
message itself names are always read with the message; so are texts, images
and the cursor.

Rules kept here:
- A server reads files and folders that a message names as `@/path` or `@/path:L10-L20`, if the
  path has neither blanks nor colons. It never reads pages; the model can, given the address.
- The user's text is changed only where the server or the model would misread it. A file or folder
  that is too large to send is put in quotes: the server would read it.
- The first prompt of a chat sends contexts unchanged. Later prompts name files and folders in a
  block at the end of the message, or contain their text if the path has a blank or a colon. They
  repeat the first prompt's contexts, except those the user has removed, because otherwise the
  server announces a change.
- A typed context is sent with its prompt. A context that belongs to every prompt is sent again only
  if it has changed, or if the model does not have it. The model has the contexts of a message that
  it has begun to answer.
- A command (`/…`) accepts words only; contexts wait for the next prompt.
- The server echoes the message it was sent; the chat shows the text the user typed. In a replay the
  block is cut off like the server's own blocks.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents import attached_files
from eca_nvim.agents.typed_tokens import has_blank, quoted, replace_tokens
from eca_nvim.chat.vocabulary.completion import is_command
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    CursorContext,
    DirectoryContext,
    FileContext,
    ResourceContext,
    TextContext,
    Tokened,
    WebContext,
)
from eca_nvim.chat.vocabulary.effects import Prompt

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
    is_by_name = isinstance(context, TextContext) and _READ.match(context.token)
    if is_by_name or has_blank(context.token):
        return context.token, quoted(context.token)
    name = name_of(context) if isinstance(context, Named) else None
    is_misread = name is not None and context.token.startswith("@/") and ":L" in name
    return (context.token, name) if name is not None and (every or is_misread) else None


_Known: TypeAlias = tuple[Context, Hashable]
"""A context without its token, and the state of its file."""


class _Chat(Struct):
    """The contexts that one chat's prompts contained."""

    opening: tuple[Context, ...]  # files and folders of the first prompt
    known: set[_Known] = field(default_factory=set)  # contexts the model has


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
        takes_words = is_command(prompt.text)
        message = spell(prompt.text, prompt.contexts, every=takes_words)
        if chat is None:
            # Even a command as first prompt creates the chat's system prompt.
            opening = tuple(it for it in prompt.contexts if isinstance(it, Named))
            self._chats[prompt.chat_id] = _Chat(opening, set(map(_known, opening)))
            contexts, due = prompt.contexts, () if takes_words else prompt.contexts
            self.underway[prompt.chat_id] = set(map(_known, due))
            named = [it.url for it in contexts if isinstance(it, WebContext)]
        elif takes_words:
            contexts, named = _repeated(chat, prompt.contexts), []
        else:
            contexts = prompt.contexts
            due = tuple(it for it in contexts if _is_typed(it) or _known(it) not in chat.known)
            self.underway[prompt.chat_id] = set(map(_known, due))
            contexts = (*_repeated(chat, prompt.contexts), *_carried(prompt.contexts, due))
            named = list(filter(None, map(name_of, due)))
        self._remember(message, prompt.text)
        sent = message if takes_words else append(message, named)
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
        """Return the text the user typed for an echo, which may join several messages."""
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
    """Return the first prompt's contexts to repeat: those typed there, or given again."""
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
    return _bare(context), attached_files.state(context)
