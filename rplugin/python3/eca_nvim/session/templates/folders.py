"""Where templates are looked for, as the user's options say."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

PROJECT_FOLDER: Final = ".nvim/eca/templates"
"""Not in `.eca/`: that is the server's own, which looks there for commands and skills."""


class TemplateFolders(Struct, frozen=True):
    """The user's folder (absolute), and that of a project relative to it; "" for none."""

    user: str = ""
    project: str = PROJECT_FOLDER
