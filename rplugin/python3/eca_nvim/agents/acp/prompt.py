"""Prompt: a prompt and its contexts as content blocks.

Text and links are sent, which every agent takes; contents of files and images only to agents that
say that they take them. What cannot be read, or is too large, is a link.
"""

import base64
import re
from collections.abc import Hashable, Sequence
from pathlib import PurePath
from typing import Final, assert_never

from eca_nvim.agents import attached_files, recap
from eca_nvim.agents.typed_tokens import without_backslashes
from eca_nvim.chat.vocabulary import contexts
from eca_nvim.chat.vocabulary.completion import COMMAND
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.paths import uri_of
from eca_nvim.protocol.acp import content
from eca_nvim.protocol.acp.content import ContentBlock, ResourceLink, TextBlock
from eca_nvim.protocol.acp.lifecycle import PromptCapabilities


class PromptWriter:
    """Writes the prompts of one session."""

    def __init__(self) -> None:
        self._sent: dict[contexts.Context, Hashable] = {}
        self._noticed: set[str] = set()

    def write(
        self, prompt: Prompt, can: PromptCapabilities
    ) -> tuple[tuple[ContentBlock, ...], Sequence[str]]:
        """Return the blocks of a prompt, and what the user should know of its contexts, in lines.

        can: what the agent takes.
        """
        text = without_backslashes(prompt.text, prompt.contexts)
        # The text of a command comes first, so that `/name rest` is one of the agent.
        blocks: list[ContentBlock] = [TextBlock(text)]
        if prompt.recap:
            said = TextBlock(recap.wrap(prompt.recap))
            blocks.insert(bool(COMMAND.match(text)), said)
        notices: list[str] = []
        for context in filter(self._is_news, prompt.contexts):
            embeds = can.embedded_context and isinstance(context, contexts.FileContext)
            fitted = attached_files.fit(context) if embeds else attached_files.Fitted(context)
            if fitted.message is not None and fitted.message not in self._noticed:
                self._noticed.add(fitted.message)
                notices.append(fitted.message)
            if embeds and isinstance(fitted.context, contexts.TextContext):
                blocks += _blocks(context, PromptCapabilities())  # too large: only its name
            elif fitted.context is not None:
                blocks += _blocks(fitted.context, can)
        return tuple(blocks), notices

    def _is_news(self, context: contexts.Context) -> bool:
        """Return whether a context must be sent: named by the prompt, new or changed.

        What belongs to every prompt of a chat is sent once, and again when it has changed.
        """
        if getattr(context, "token", None):
            return True
        state = attached_files.state(context)
        is_news = context not in self._sent or self._sent[context] != state
        self._sent[context] = state
        return is_news


def _blocks(context: contexts.Context, can: PromptCapabilities) -> Sequence[ContentBlock]:
    match context:
        case contexts.FileContext(path):
            lines = _fragment(context.first, context.last)
            text = attached_files.text_of(context) if can.embedded_context else None
            if text is None:
                return (_link(path, lines),)
            whole = content.ResourceContents(uri_of(path) + lines, text)
            return (content.EmbeddedResource(whole),)
        case contexts.ImageContext(path):
            data = attached_files.bytes_of(context) if can.image else None
            if data is None:
                return (_link(path),)
            encoded = base64.b64encode(data).decode()
            return (content.ImageBlock(encoded, context.media_type, uri_of(path)),)
        case contexts.DirectoryContext(path):
            return (_link(path),)
        case contexts.ResourceContext(uri) | contexts.WebContext(uri):
            return (ResourceLink(uri, uri),)
        case contexts.PathMention() | contexts.DiffContext():  # only words of the text
            return ()
        case contexts.TextContext(label, words):
            return (TextBlock(f"{label}:\n{words}"),)
        case contexts.CursorContext(path):
            return TextBlock(_place(context)), _link(path, f"#L{context.start.line}")
        case _:
            assert_never(context)


def _link(path: str, lines: str = "") -> ResourceLink:
    return ResourceLink(uri_of(path) + lines, PurePath(path).name or path)


def _fragment(first: int | None, last: int | None) -> str:
    """Return lines as the fragment of a link; "" for a whole file."""
    if first is None and last is None:
        return ""
    return f"#L{first or 1}" + ("" if last is None else f"-L{last}")


_ADDED: Final = re.compile(
    r"The cursor is in line \d{1,9}, column \d"
    r"|Selected in /[^\n:]{1,4096}: from line \d"
    r"|(?:\A|\n)/[^\n(]{1,4096}\(@[^\n)]{1,4096}\):\n"
    r"|\[@[^]\n]{1,4096}\]\(file://"
    r"|\[Resource link: file://"
    r'|<context ref="file://'
    rf"|{recap.BEGIN}\n"
)
"""Where the contexts of a prompt begin: with our words, or as agents write links and files.

claude 0.101.0, codex 2.6.0 and 0.16.0, copilot 1.0.102.
"""

_PLACE_IN_TITLE: Final = re.compile(r"The cursor is in line \d|Selected in /")


def typed_text(text: str) -> str:
    """Return what the user typed of a prompt that an agent replays, without what we added."""
    _, text = recap.unwrap(text)
    added = _ADDED.search(text)
    return text[: added.start()].rstrip() if added else text


def typed_title(title: str) -> str:
    """Return what the user typed of a title that an agent made of a prompt, without `_place`."""
    place = _PLACE_IN_TITLE.search(title)
    return (title[: place.start()].rstrip() if place else title) or title


def _place(cursor: contexts.CursorContext) -> str:
    start, end = cursor.start, cursor.end
    if start == end:
        return f"The cursor is in line {start.line}, column {start.column} of {cursor.path}."
    return (
        f"Selected in {cursor.path}: from line {start.line}, column {start.column} "
        f"to before line {end.line}, column {end.column}."
    )
