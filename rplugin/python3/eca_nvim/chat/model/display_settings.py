"""Display settings: what the user may decide about how blocks read.

Rules kept here: plain Unicode only (no Nerd Font); every highlight group that rendering uses is
listed in HIGHLIGHTS, and the view defines each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field

from eca_nvim.chat.text.ansi import GROUPS
from eca_nvim.chat.text.output import MORE

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

HIGHLIGHTS = (
    "EcaToolPreparing",
    "EcaToolWaiting",
    "EcaToolRunning",
    "EcaToolDone",
    "EcaToolFailed",
    "EcaToolRejected",
    "EcaToolName",
    "EcaToolTarget",
    "EcaTime",
    "EcaMuted",
    "EcaReasoning",
    "EcaHook",
    "EcaQuestion",
    "EcaImage",
    "EcaLink",
    "EcaFlag",
    "EcaNote",
    "EcaError",
    "EcaWarning",
    "EcaDiffAdd",
    "EcaDiffDelete",
    "EcaDiffHunk",
    "EcaDiffAddText",
    "EcaDiffDeleteText",
    MORE,
    *GROUPS,
)


class RenderSettings(Struct, frozen=True):
    """Icons by name (missing ones fall back to the defaults) and the workspace's folders.

    Files inside a folder are shown relative to it; folders are absolute, without a final slash.
    """

    icons: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()

    def icon(self, name: str) -> str:
        """Give the icon of a name in DEFAULT_ICONS."""
        return self.icons.get(name) or DEFAULT_ICONS[name]

    def relative(self, path: str) -> str:
        """Give a path as the reader wants it: relative to the workspace folder it is in."""
        for folder in self.folders:
            if path == folder:
                return "."
            if path.startswith(folder + "/"):
                return path[len(folder) + 1 :]
        return path
