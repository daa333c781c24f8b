"""The files that chats of a recording have used, as text for a golden file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eca_nvim.chat.model.calls import named_in
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.panel_rows import set_used_files
from eca_nvim.chat.vocabulary.call_details import Use
from eca_nvim.chat.vocabulary.effects import FindFiles


def used_files(chat: Chat, effects: Iterable[object]) -> str:
    """Return a line a file as the view gets it, the hottest first, then what is looked for."""
    chat.used.news.update(dict.fromkeys(path for path, _ in chat.used.hottest_first()))
    looked = dict.fromkeys(
        f"? {named.use} {named.path}"
        for effect in effects
        if isinstance(effect, FindFiles)
        for named in named_in(effect)
    )
    return "\n".join([*_lines(chat), *looked, ""])


def _lines(chat: Chat) -> Iterator[str]:
    op = set_used_files(chat)
    for file in sorted(op.files, key=lambda it: -chat.used.heat(it["path"])):
        counts = " ".join(f"{use}={file[use]}" for use in Use if use in file)
        outside = " outside" if file["outside"] else ""
        heat = chat.used.heat(file["path"])
        yield f"{file['path']} turn={file['turn']}/{op.turn} heat={heat:g} {counts}{outside}"
