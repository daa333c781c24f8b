"""Every highlight group that rendering uses."""

from __future__ import annotations

from eca_nvim.chat.text.ansi import GROUPS
from eca_nvim.chat.text.output import MORE

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
