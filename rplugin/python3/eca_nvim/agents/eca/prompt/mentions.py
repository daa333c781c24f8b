"""What goes along with a prompt, put where the server will really read it.

The server puts the files and folders of a chat's first prompt into the system prompt and keeps
that for the whole chat: what later prompts add there is announced and not read. What a message
itself names (`eca_names`) is read with that message, always; so are texts, pictures and the
cursor.

Rules kept here:
- The first prompt of a chat sends contexts as they are. Later prompts name files and folders in a
  block at the end of the message, or carry their text when the path has a blank or a colon. They
  repeat the first one's contexts, but for those the user took away: else the server announces a
  change.
- What was typed goes with its prompt. What goes along with every prompt goes again only when it
  has changed, or the model does not have it: it has what a message carried that it answered.
- A command (`/…`) takes words alone; what goes along waits for the next prompt.
- The server echoes what it was sent; the chat is told what the user typed. In a replay the block
  is cut off like those of the server.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.base import Prompt
from eca_nvim.agents.eca.prompt import attached_files
from eca_nvim.agents.eca.prompt.mention_words import Named, append, name_of, spell
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    CursorContext,
    DirectoryContext,
    FileContext,
    WebContext,
)
from eca_nvim.patterns import late_pattern

_COMMAND = late_pattern(r"/[^\s/]*(?:\s|\Z)")

_Known: TypeAlias = tuple[Context, Hashable]
"""A context without its token, and how it was."""


class _Chat(Struct):
    """What one chat's prompts carried."""

    opening: tuple[Context, ...]  # files and folders of the first one
    told: set[_Known] = field(default_factory=set)  # what the model has
    underway: set[_Known] = field(default_factory=set)  # and has once it answers


class Mentions:
    """What the prompts of one server process named."""

    def __init__(self) -> None:
        self._chats: dict[str, _Chat] = {}
        self._typed: dict[str, str] = {}  # by the words that were sent instead

    def write(self, prompt: Prompt) -> tuple[str, tuple[Context, ...]]:
        """Return the message and the contexts to send for a prompt."""
        chat = self._chats.get(prompt.chat_id)
        is_command = _is_command(prompt.text)
        message = spell(prompt.text, prompt.contexts, every=is_command)
        if chat is None:
            chat = self._chats[prompt.chat_id] = _open(prompt)
            contexts = prompt.contexts
            named = [it.url for it in contexts if isinstance(it, WebContext)]
        elif is_command:
            contexts, named = _repeated(chat, prompt.contexts), []
        else:
            due = [it for it in prompt.contexts if _is_typed(it) or _known(it) not in chat.told]
            chat.underway = set(map(_known, due))
            contexts = (*_repeated(chat, prompt.contexts), *_carried(prompt.contexts, due))
            named = list(filter(None, map(name_of, due)))
        self._remember(message, prompt.text)
        sent = message if is_command else append(message, named)
        return sent, tuple(dict.fromkeys(contexts))

    def write_steer(self, text: str, contexts: Sequence[Context]) -> str:
        """Return the message to send for words to a running turn: it can only name files."""
        message = spell(text, contexts, every=True)
        self._remember(message, text)
        return message

    def _remember(self, sent: str, typed: str) -> None:
        if sent != typed:
            self._typed[sent.strip()] = typed

    def read(self, echo: str) -> str:
        """Return what the user typed for a message that the server echoes, or joins in an echo."""
        if (typed := self._typed.pop(echo.strip(), None)) is not None:
            return typed
        for sent in [it for it in self._typed if it in echo]:
            echo = echo.replace(sent, self._typed.pop(sent))
        return echo

    def answered(self, chat_id: str) -> None:
        """Note that the model began to answer, so that the prompt is part of what it knows (hot).

        The server forgets prompts that fail or are stopped before that.
        """
        if (chat := self._chats.get(chat_id)) is not None and chat.underway:
            chat.told |= chat.underway
            chat.underway = set()

    def resumed(self, chat_id: str) -> None:
        """Note that a chat had its first prompt in another life of the server."""
        self._chats.setdefault(chat_id, _Chat(()))

    def shortened(self, chat_id: str) -> None:
        """Note that the model may have lost messages of a chat: rolled back, or summarized."""
        if (chat := self._chats.get(chat_id)) is not None:
            pinned = set(map(_bare, chat.opening))
            chat.told = {known for known in chat.told if known[0] in pinned}

    def emptied(self, chat_id: str) -> None:
        """Note that a chat has no messages any more: its next prompt is a first one."""
        self._chats.pop(chat_id, None)


def _open(prompt: Prompt) -> _Chat:
    """Begin a chat, whose system prompt is made now, with a command too."""
    opening = tuple(filter(_is_pinned, prompt.contexts))
    others = () if _is_command(prompt.text) else prompt.contexts
    return _Chat(opening, set(map(_known, opening)), set(map(_known, others)))


def _is_command(text: str) -> bool:
    return _COMMAND.match(text) is not None


def _repeated(chat: _Chat, contexts: Iterable[Context]) -> tuple[Context, ...]:
    """Return what of the first prompt still goes along: what was typed there, or is here again."""
    here = set(map(_bare, contexts))
    return tuple(it for it in chat.opening if _is_typed(it) or _bare(it) in here)


def _carried(contexts: Iterable[Context], due: Sequence[Context]) -> Sequence[Context]:
    """Return what is sent as a context, or as text where a message has no name for it."""
    carried: list[Context] = []
    for context in contexts:
        match context:
            case CursorContext() | WebContext():
                carried.append(context)
            case _ if context not in due or name_of(context):
                pass
            case FileContext() | DirectoryContext() if not attached_files.is_image(context):
                carried.append(attached_files.as_text(context))
            case _:
                carried.append(_bare(context))
    return carried


def _is_pinned(context: Context) -> bool:
    """Return whether the server puts a context into the system prompt."""
    is_file = isinstance(context, Named)
    return is_file and not attached_files.is_image(context)


def _is_typed(context: Context) -> bool:
    return isinstance(context, Named) and context.token is not None


def _bare(context: Context) -> Context:
    """Take the token off a context."""
    if isinstance(context, Named) and context.token is not None:
        return replace(context, token=None)
    return context


def _known(context: Context) -> _Known:
    return _bare(context), attached_files.state(context)
