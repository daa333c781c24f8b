"""Content: the blocks that prompts, messages and tool calls consist of; the list of tasks."""

from typing import TypeAlias

from eca_nvim.protocol.base.types import OpenEnum, UnknownPart, Wire


class NamedValue(Wire, frozen=True):
    """A variable of an environment, or a header."""

    name: str
    value: str


class TextBlock(Wire, frozen=True, tag_field="type", tag="text"):
    """Text, in messages of the agent a piece cut anywhere."""

    text: str


class ImageBlock(Wire, frozen=True, tag_field="type", tag="image"):
    """An image; `data` is base64."""

    data: str
    mime_type: str = ""
    uri: str | None = None


class AudioBlock(Wire, frozen=True, tag_field="type", tag="audio"):
    """A recording; `data` is base64."""

    data: str
    mime_type: str = ""


class ResourceLink(Wire, frozen=True, tag_field="type", tag="resource_link"):
    """A link to a file or a page."""

    uri: str
    name: str = ""
    title: str | None = None


class ResourceContents(Wire, frozen=True):
    """The text of a resource, or its bytes as base64 in `blob`."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: str | None = None


class EmbeddedResource(Wire, frozen=True, tag_field="type", tag="resource"):
    """A resource with its contents."""

    resource: ResourceContents


class UnknownBlock(UnknownPart, frozen=True, tag_field="type", tag=""):
    """A block of an unknown type."""


ContentBlock: TypeAlias = (
    TextBlock | ImageBlock | AudioBlock | ResourceLink | EmbeddedResource | UnknownBlock
)


class EntryStatus(OpenEnum):
    """How far a task is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    UNKNOWN = "unknown"


class PlanEntry(Wire, frozen=True):
    """A task; `priority` is high, medium or low."""

    content: str
    status: EntryStatus = EntryStatus.UNKNOWN
    priority: str = "medium"
