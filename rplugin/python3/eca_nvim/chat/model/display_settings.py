"""Display settings: the user's settings for how blocks look."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field

# Plain Unicode only, because not everybody has a Nerd Font.
DEFAULT_ICONS: Mapping[str, str] = MappingProxyType(
    {
        "open": "▾",
        "closed": "▸",
        "preparing": "…",
        "waiting": "?",
        "approved": "…",
        "refused": "⊘",
        "running": "●",
        "done": "✓",
        "failed": "✗",
        "rejected": "⊘",
        "stopped": "⊘",
        "unreported": "·",
        "left": "⊘",
        "question": "?",
        "hook": "⚙",
        "image": "▣",
        "link": "↗",
        "flag": "⚑",
        "unknown": "·",
        "task_pending": "▢",
        "task_running": "◐",
        "task_done": "✓",
    }
)

DIFF_LINES = 40
"""Lines of a diff that a block shows, and the floating window that asks."""


class RenderSettings(Struct, frozen=True):
    """Icons by name (missing ones have defaults) and the workspace's folders, as they are now.

    Files in the first folder are shown relative to it: in another one the name would mean a file
    of the first. Folders are absolute, without a final slash.
    `follow`: the view shows the lines of files that calls change. `diff_lines`: the most lines of
    a diff in a block.
    """

    icons: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[str] = ()
    follow: bool = False
    diff_lines: int = DIFF_LINES

    def icon(self, name: str) -> str:
        """Return the icon for a name in DEFAULT_ICONS."""
        return self.icons.get(name) or DEFAULT_ICONS[name]

    def relative(self, path: str) -> str:
        """Return a path relative to the first folder if it is there; others unchanged."""
        folder = self.folders[0] if self.folders else None
        if folder is None or path == folder:
            return path if folder is None else "."
        return path.removeprefix(folder + "/")
