"""Contexts: checks what the user or another plugin wants to send with a prompt."""

import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from eca_nvim.agents.attached_files import folder_bytes
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.render.whole_chat import recap
from eca_nvim.chat.text.safe_text import literal_name, one_line
from eca_nvim.chat.vocabulary import contexts, ops, query_intents
from eca_nvim.path_risks import PathRisk, path_risks
from eca_nvim.paths import NotAFile, open_regular
from eca_nvim.session.chats import now
from eca_nvim.session.files import late_contexts
from eca_nvim.session.proposals.diff_tab import EditorFiles
from eca_nvim.session.view import View
from eca_nvim.threads import run_in_thread

_CHUNK = 1 << 16


class Contexts:
    """Reads and checks contexts."""

    def __init__(
        self,
        settings: RenderSettings,
        files: EditorFiles,
        view: View,
        chats: Mapping[str, Chat],
    ) -> None:
        self._settings = settings
        self._files = files
        self._view = view
        self._chats = chats

    def read(self, items: Sequence[object]) -> Iterator[contexts.Context]:
        """Read the contexts of a prompt; reports those that cannot be sent."""
        for item in items:
            try:
                context = self._parse(item)
                if not isinstance(context, contexts.CursorContext) and context.token is not None:
                    self._report_link(item)
                yield context
            except contexts.MalformedContext as fault:
                self._view.push([ops.Notify("warn", f"context not sent: {fault}")])

    async def check(self, intent: query_intents.CheckContext) -> Mapping[str, object]:
        """Return whether a context can be sent (`check_context`)."""
        try:
            context = self._parse(intent.item)
            self._report_link(intent.item)
            first = last = None
            if isinstance(context, contexts.FileContext):
                first, last = await self._lines(context)
        except contexts.MalformedContext as fault:
            return {"fault": str(fault)}
        return {"first": first, "last": last}

    async def read_diff(self, intent: query_intents.ReadDiff) -> Mapping[str, object]:
        """Return git's diff, or why there is none (`read_diff`)."""
        try:
            diff = await late_contexts.read_diff(intent.folder)
        except late_contexts.NoDiff as fault:
            return {"fault": str(fault)}
        return {"label": diff.label, "content": diff.content, "cut": diff.cut}

    async def measure(self, intent: query_intents.MeasureContexts) -> Sequence[int | bool]:
        """Return the bytes of what contexts would send (`measure_contexts`)."""
        sizes = [await _bytes_of(item) for item in intent.items]
        return [False if size is None else size for size in sizes]

    def _parse(self, item: object) -> contexts.Context:
        """Parse a context; its file, folder or chat must exist. Raises MalformedContext."""
        match item:
            case {"type": "chat", "chat": str(chat), "number": int(number), **rest}:
                item = rest | self._said(chat, number)
        context = contexts.parse_context(item)
        if not isinstance(
            context, contexts.FileContext | contexts.DirectoryContext | contexts.ImageContext
        ):
            return context
        name = self._name(context.path)
        try:
            is_folder = stat.S_ISDIR(Path(context.path).stat().st_mode)
        except (OSError, ValueError):
            raise contexts.MalformedContext(f"not found: {name}") from None
        if is_folder != isinstance(context, contexts.DirectoryContext):
            kind = "folder: use the type 'directory'" if is_folder else "file: use the type 'file'"
            raise contexts.MalformedContext(f"{name} is a {kind}")
        return context

    def _said(self, chat_id: str, number: int) -> dict[str, object]:
        """Return what was said in another chat, as a text. Raises MalformedContext."""
        chat = self._chats.get(chat_id)
        text = "" if chat is None else recap(chat, None, now())
        if chat is None or not text:
            raise contexts.MalformedContext(f"nothing was said in chat {number} yet")
        title = f": {one_line(chat.title)}" if chat.title else ""
        label = f"another chat{title} (@chat:{number})"
        return {"type": "text", "label": label, "content": text}

    def _report_link(self, item: object) -> None:
        """Show where a name leads that is in the workspace, if its file is not."""
        written = item.get("written") if isinstance(item, Mapping) else None
        risks = path_risks(written, self._settings.folders) if isinstance(written, str) else {}
        if (real := risks.get(PathRisk.OUTSIDE)) is not None:
            line = f"{self._name(str(written))} is outside the workspace: it is {self._name(real)}"
            self._view.push([ops.Notify("warn", line)])

    async def _lines(self, context: contexts.FileContext) -> tuple[int | None, int | None]:
        """Return first and last line, cut to those on disk or in an unsaved buffer."""
        furthest = context.last or context.first
        if furthest is None:
            return None, None
        name = self._name(context.path)
        try:
            count = await run_in_thread(partial(_count, context.path, furthest))
        except (OSError, NotAFile) as fault:
            raise contexts.MalformedContext(f"{name} cannot be read: {fault}") from fault
        edited = await self._files.unsaved([context.path]) if count < furthest else {}
        text = edited.get(context.path, "")
        count = max(count, text.count("\n") + (not text.endswith("\n")))
        return contexts.lines_within({"first": context.first, "last": context.last}, name, count)

    def _name(self, path: str) -> str:
        return self._settings.relative(literal_name(path))


async def _bytes_of(item: object) -> int | None:
    """Return the bytes that a folder or diff has now; None if nothing but its name is sent."""
    try:
        match contexts.parse_context(item):
            case contexts.DirectoryContext(path):
                return await run_in_thread(partial(folder_bytes, path))
            case contexts.DiffContext(folder):
                return len((await late_contexts.read_diff(folder)).content.encode())
            case _:
                return None
    except (contexts.MalformedContext, late_contexts.NoDiff):
        return None


def _count(path: str, most: int) -> int:
    """Count the lines of a file, at least up to `most`. Raises OSError, NotAFile."""
    count, end = 0, b"\n"
    with open_regular(path) as file:
        while count < most and (chunk := file.read(_CHUNK)):
            count, end = count + chunk.count(b"\n"), chunk[-1:]
    return count + (end != b"\n")
