"""Content: blocks of messages as events, and as plain text."""

from __future__ import annotations

import string
from contextlib import suppress
from typing import Final
from urllib.parse import unquote

from eca_nvim.chat.text.output import as_line
from eca_nvim.chat.vocabulary.events import ChatEvent, Role, TextReceived, UnknownReceived
from eca_nvim.chat.vocabulary.received import ImageReceived, LinkReceived
from eca_nvim.paths import NotAFile, path_of
from eca_nvim.protocol.acp.content import (
    AudioBlock,
    ContentBlock,
    EmbeddedResource,
    ImageBlock,
    ResourceContents,
    ResourceLink,
    TextBlock,
    UnknownBlock,
)

_LONGEST: Final = 200
"""Most characters of something unknown that are shown."""


def block_event(block: ContentBlock, role: Role) -> ChatEvent | None:
    """Return a block of a message as an event; None if it is empty."""
    match block:
        case TextBlock(text):
            return TextReceived(role, text) if text else None
        case ImageBlock(data, media_type, uri):
            return ImageReceived(media_type, data) if data else LinkReceived("image", uri or "")
        case AudioBlock():
            return LinkReceived(block_text(block), "")
        case ResourceLink(uri, name, title):
            return LinkReceived(title or name or _last_part(uri), uri)
        case EmbeddedResource(resource):
            return _resource(resource)
        case UnknownBlock(kind=kind, fields=fields):
            return UnknownReceived(kind or "content", unknown_line(fields, "type"))


def block_text(block: ContentBlock) -> str:
    """Return a block as text, for places that show nothing else."""
    match block:
        case TextBlock(text):
            return text
        case ImageBlock(data, media_type) | AudioBlock(data, media_type):
            kind = "image" if isinstance(block, ImageBlock) else "audio"
            return f"{media_type or kind}, {_kilobytes(data)} KB"
        case ResourceLink(uri, name):
            return f"{name} {uri}".strip()
        case EmbeddedResource(ResourceContents(uri, text)):
            return uri if text is None else text
        case UnknownBlock(fields=fields):
            return unknown_line(fields, "type")


def named_file(block: ContentBlock) -> str | None:
    """Return the path of the file that a block links or contains, None if it names none."""
    match block:
        case ResourceLink(uri) | EmbeddedResource(ResourceContents(uri)) | ImageBlock(uri=str(uri)):
            with suppress(NotAFile):
                return path_of(_without_lines(uri))
    return None


def _without_lines(uri: str) -> str:
    """Return a URI without a fragment for lines, as `#L3` or `#L3-L7`."""
    whole, mark, lines = uri.rpartition("#")
    is_lines = bool(mark) and lines[:1] == "L" and not set(lines) - {*"L-:", *string.digits}
    return whole if is_lines else uri


def unknown_line(fields: dict[str, object], tag: str) -> str:
    """Return something unknown as one line; `tag`: the member that names what it is."""
    text = fields.get("text")
    if not isinstance(text, str) or not text:
        text = as_line({key: it for key, it in fields.items() if key not in (tag, "_meta")})
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _resource(resource: ResourceContents) -> ChatEvent:
    media_type = resource.mime_type or ""
    if resource.text is not None:
        return UnknownReceived(_last_part(resource.uri), resource.text)
    if resource.blob and media_type.startswith("image/"):
        return ImageReceived(media_type, resource.blob)
    return LinkReceived(_last_part(resource.uri), resource.uri)


def _last_part(uri: str) -> str:
    return unquote(uri.rstrip("/").rpartition("/")[2]) or uri


def _kilobytes(data: str) -> int:
    return max(1, len(data) * 3 // 4 // 1024)
