"""Memory: what a server remembers across chats, in Markdown files (0.157, from its documents)."""

from eca_nvim.protocol.base.types import Int, Notification, Request, Wire


class MemoryEntry(Wire, frozen=True, kw_only=True):
    """A file of the memory; `path` is absolute and identifies it.

    `tier` is personal (of one project) or global, `label` its name for the user. `type` is a word
    such as gotcha. `mtime_ms`: when the file has changed, in ms since 1970.
    """

    path: str
    tier: str | None = None
    name: str | None = None
    description: str | None = None
    type: str | None = None
    tags: tuple[str, ...] | None = None
    label: str | None = None
    mtime_ms: Int | None = None


class MemoryListResult(Wire, frozen=True, kw_only=True):
    """All entries, those of each folder together, the newest first."""

    entries: tuple[MemoryEntry, ...] = ()


class MemoryListParams(Request[MemoryListResult], frozen=True):
    """List the memory; an error if it is switched off in the configuration."""

    method = "memory/list"


class MemoryIndexLoaded(Notification, frozen=True, kw_only=True):
    """How many entries of the memory a chat's prompts have, of how many there are."""

    method = "memory/indexLoaded"
    chat_id: str | None = None
    count: Int = 0
    total_count: Int = 0
