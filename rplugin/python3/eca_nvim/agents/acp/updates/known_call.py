"""Known call: what an agent has said about a call so far, and what that means."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from shlex import quote
from typing import Final

from msgspec.structs import replace

from eca_nvim.agents.acp.updates.changes import WholeDiff, absolute, file_changes
from eca_nvim.agents.acp.updates.messages import block_text, named_file
from eca_nvim.agents.acp.updates.quirks import meant, meant_diff
from eca_nvim.chat.model.calls import CHANGES_NOTHING, plain_name
from eca_nvim.chat.text.diffs import count_made
from eca_nvim.chat.text.output import as_line, document
from eca_nvim.chat.vocabulary import call_details as chat
from eca_nvim.chat.vocabulary.requests import is_same
from eca_nvim.protocol.acp import tool_call as acp

ORIGIN: Final = "acp"
_COMMAND: Final = "command"
_SHELLS: Final = frozenset(
    folder + name
    for folder in ("", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/")
    for name in ("sh", "bash", "dash", "zsh", "ksh")
)
"""Shells of the system that read a line alike. A file of the workspace may have the name of one."""
_RUNS: Final = frozenset({"-c", "-lc"})
"""Not `-ic`: zsh reads no comments then, so it runs what other shells leave out."""
_READ_DIFFERENTLY: Final = "$'"
"""Begins a quotation in bash, which ends elsewhere in dash."""
_CHANGES_FILES: Final = frozenset({chat.ToolKind.EDIT, chat.ToolKind.DELETE, chat.ToolKind.MOVE})
_NAMED_IN_TITLE: Final = 3
"""Files of a call that its title names, or that are looked for in it."""
MOST_PRINTED: Final = 1 << 20
"""Characters of what a terminal has printed that are kept, about."""
_MOST_NAMED: Final = 100
_TEXTS: Final = frozenset(
    {
        *("oldstring", "newstring", "oldstr", "newstr", "oldtext", "newtext", "oldcontent"),
        *("newcontent", "originalcontent", "before", "after", "content", "filetext", "text"),
    }
)
"""Arguments that are the texts of an edit, in the form of `plain_name`."""
_LONG: Final = 40
"""Characters of an argument that is in a text not only by chance."""


class KnownCall:
    """A call, as its messages have described it; `id` is ours, `read` as for `file_changes`."""

    def __init__(self, call_id: str, folder: str, read: Mapping[str, str]) -> None:
        self.id = call_id
        self.text = ""
        """The texts of its content."""
        self.named: tuple[str, ...] = ()
        """The files that its content links or contains, beyond its own."""
        self._folder = folder
        self._read = read
        self._first_title = ""
        self._said = acp.ToolCallUpdate(tool_call_id="")
        self._diffs: tuple[acp.CallDiff, ...] = ()
        self._written: dict[str, tuple[str | None, str]] = {}  # texts before and after, by path
        self._has_made = False  # what is written, since the user was asked last
        self._has_content = False
        self._raw_output: object = None
        self._printed = deque[str]()  # by a terminal of the agent
        self._printed_size = 0
        self._shown: dict[str, Callable[[], str]] = {}  # by terminals of ours
        self._ran: dict[str, None] = {}  # in terminals of ours, in order
        self._explains = True
        self._call: chat.ToolCall | None = None

    @property
    def call(self) -> chat.ToolCall:
        """What is known of the call; the same value until a message says something new."""
        if self._call is None:
            self._call = self._described()
        return self._call

    @property
    def says_what(self) -> bool:
        """Whether it is known what the call will do, beyond its title."""
        said = self._said
        return bool(said.raw_input or said.locations or self._diffs or self.text)

    def asks(self) -> None:
        """Note that the user is asked about the call: texts explain it from now on."""
        self._has_made, self._call = False, None
        self._read_texts(as_notes=True)

    def runs(self) -> None:
        """Note that the call runs: texts are what it prints from now on."""
        self._read_texts(as_notes=False)

    def prints(self, piece: str) -> None:
        """Store a piece of what a terminal prints; of much only the end is kept."""
        self._printed.append(piece)
        self._printed_size += len(piece)
        while self._printed_size > MOST_PRINTED and len(self._printed) > 1:
            self._printed_size -= len(self._printed.popleft())

    def wrote(self, path: str, old: str | None, new: str) -> None:
        """Note a write of ours for the call; `path`: as the call names it, `old`: None if new."""
        if old == new:
            return  # the agent has made the change already
        first, _ = self._written.get(path, (old, new))
        self._written[path] = (first, new)
        self._has_made, self._call = True, None

    def show(self, terminal_id: str, command: str, text: Callable[[], str]) -> None:
        """Show a terminal of ours; `text` returns what it has printed. The call runs a command."""
        self._shown[terminal_id] = text
        self._ran[command] = self._call = None

    def hide(self, terminal_id: str) -> None:
        """Leave a terminal to another call."""
        self._shown.pop(terminal_id, None)

    def ended(self) -> None:
        """Forget what the call has printed: the chat has it."""
        self.text, self._raw_output = "", None
        self._printed.clear()
        self._shown.clear()

    def merge(self, update: acp.ToolCallUpdate) -> bool:
        """Store what a message says; returns whether that describes the call differently.

        What it does not say stays as it was; content replaces.
        """
        fresh = {
            name: value
            for name in ("title", "name", "kind", "locations", "raw_input")
            if (value := getattr(update, name)) not in (None, {})
            and not is_same(value, getattr(self._said, name))
        }
        self._said = replace(self._said, **fresh)
        self._first_title = self._first_title or self._said.title or ""
        is_new = bool(fresh)
        if update.content is not None:
            is_new = self._replace_content(update.content) or is_new
        if update.raw_output is not None:
            self._raw_output = update.raw_output
        if is_new:
            self._call = None
        return is_new

    def outputs(self) -> tuple[str, ...]:
        """Return what the call has printed; the raw output only if it has no content."""
        if self.text:
            return (_unfenced(self.text),)
        printed = ["".join(self._printed), *(text() for text in self._shown.values())]
        if any(printed):
            return ("\n".join(filter(None, printed)),)
        raw = "" if self._has_content else _raw_text(self._raw_output)
        return (raw,) if raw.strip() else ()

    def _read_texts(self, *, as_notes: bool) -> None:
        if as_notes is not self._explains:
            self._explains, self.text, self._call = as_notes, "", None
            self._has_content = bool(self._diffs)

    def _replace_content(self, content: Sequence[acp.AnyCallContent]) -> bool:
        diffs = tuple(it for it in content if isinstance(it, acp.CallDiff))
        text = "\n".join(filter(None, map(_text, content)))
        is_new = self._explains and text != self.text
        if diffs or self._explains:  # the result does not take away the diffs that were proposed
            is_new = is_new or diffs != self._diffs
            self._diffs = diffs
        self.text, self._has_content = text, bool(content)
        blocks = (it.content for it in content if isinstance(it, acp.CallContent))
        self.named = tuple(islice(filter(None, map(named_file, blocks)), _MOST_NAMED))
        return is_new

    def _described(self) -> chat.ToolCall:
        said, kind = self._said, _kind(self._said.kind)
        if self._ran and kind not in _CHANGES_FILES:
            kind = chat.ToolKind.EXECUTE  # whatever the agent says
        raw = said.raw_input
        arguments = raw if raw is None or isinstance(raw, dict) else {"input": raw}
        given = arguments or {}
        kind, diffs = self._meant(kind, given)
        paths = [it.path for it in said.locations or ()]
        locations = tuple(
            chat.Location(
                absolute(it.path, (), self._folder), it.line if (it.line or 0) > 0 else None
            )
            for it in said.locations or ()
        )
        changes = file_changes(diffs, paths, self._folder, self._read)
        # A request shows what will be written; what was written through us is shown as it was.
        changes = self._made(changes) if self._has_made else changes
        if changes and kind in CHANGES_NOTHING:
            kind = chat.ToolKind.EDIT  # whatever the agent calls it
        is_command, text = kind is chat.ToolKind.EXECUTE, _unfenced(self.text)
        return chat.ToolCall(
            id=self.id,
            name=said.name,
            origin=ORIGIN,
            arguments=arguments,
            kind=kind,
            # A title may be the words of a model: the files of the changes say more, and what ran
            # in terminals of ours more than the arguments.
            title=_changed(changes) or _title(said.title or "", locations),
            command=("\n".join(self._ran) or _command(given)) if is_command else None,
            locations=locations,
            changes=changes,
            shown=tuple(_shown(given, kind, changes)),
            # It explains the call, unless an argument says the same.
            note=None if not self._explains else "" if text in given.values() else text,
        )

    def _meant(
        self, kind: chat.ToolKind, arguments: Mapping[str, object]
    ) -> tuple[chat.ToolKind, tuple[acp.CallDiff, ...]]:
        """Return the kind and the diffs of a call, also of one that has them in its arguments."""
        row = None if self._diffs else meant(self._first_title, arguments)
        if row is None or kind not in (chat.ToolKind.OTHER, _kind(row.kind)):
            return kind, self._diffs
        diff = meant_diff(row, arguments)
        return _kind(row.kind), () if diff is None else (diff,)

    def _made(self, announced: tuple[chat.FileChange, ...]) -> tuple[chat.FileChange, ...]:
        """Return the changes that a call announces, or those that were made in their place."""
        changes = announced
        for path, (old, new) in self._written.items():
            of_file = [it for it in announced if it.path == path]
            if count_made(old or "", new, of_file) != len(of_file) or not of_file:
                made = file_changes([WholeDiff(path, new, old)], (), self._folder, {})
                changes = (*(it for it in changes if it.path != path), *made)
        return changes


def _kind(kind: acp.ToolKind | None) -> chat.ToolKind:
    """Return the kind of a tool; one that is missing or unknown may do anything."""
    return (
        chat.ToolKind.OTHER if kind in (None, acp.ToolKind.UNKNOWN) else chat.ToolKind(kind.value)
    )


def _command(arguments: Mapping[str, object]) -> str | None:
    """Return the shell line of a call, from a text or a list of words."""
    match arguments.get(_COMMAND):
        case str(line) if line.strip():
            return line
        case [_, *_] as words:
            return shell_line([word if isinstance(word, str) else as_line(word) for word in words])
        case _:
            return None


def shell_line(words: Sequence[str]) -> str:
    """Return a program with its arguments as a shell line."""
    program, *arguments = words
    quoted = quote(program)
    if "=" in program and quoted == program:
        quoted = f"'{program}'"  # else a shell would set a variable
    return line_of_shell(words) or " ".join((quoted, *map(quote, arguments)))


def line_of_shell(words: Sequence[str]) -> str | None:
    """Return the line that a shell is given to run, if it does not matter which shell that is."""
    match words:
        case [shell, flag, line] if shell in _SHELLS and flag in _RUNS:
            return None if _READ_DIFFERENTLY in line else line
        case _:
            return None


def _changed(changes: Sequence[chat.FileChange]) -> chat.Title:
    """Return the names of the files that a call changes: they say more than its title."""
    paths = list(dict.fromkeys(it.path for it in changes))
    names: list[str | chat.FileName] = [chat.FileName(path) for path in paths[:_NAMED_IN_TITLE]]
    more = len(paths) - len(names)
    return (*names, f"and {more} more") if more else tuple(names)


def _title(title: str, locations: Sequence[chat.Location]) -> chat.Title:
    """Return a title with the paths of the call's files as such."""
    for place in locations[:_NAMED_IN_TITLE]:
        for quoted in (f"`{place.path}`", place.path):
            before, found, after = title.partition(quoted)
            if found and not after[:1].isalnum() and len(place.path) > 1:
                pieces = (before.strip(), chat.FileName(place.path), after.strip())
                return tuple(piece for piece in pieces if piece)
    return (title,) if title.strip() else ()


def _shown(
    arguments: Mapping[str, object],
    kind: chat.ToolKind,
    changes: Sequence[chat.FileChange],
) -> Iterator[str]:
    """Yield the names of the arguments that the command or the diff shows in full."""
    if kind is chat.ToolKind.EXECUTE and not changes:
        yield _COMMAND
    elif kind is chat.ToolKind.EDIT:
        texts = [text for it in changes for text in (it.old, it.new) if text]
        for name, value in arguments.items():
            # Any other argument may mean anything to the agent.
            if isinstance(value, str) and plain_name(name) in _TEXTS:
                is_long = len(value) >= _LONG  # a short one may be in a text by chance
                if any(value == text or (is_long and value in text) for text in texts):
                    yield name


def _text(content: acp.AnyCallContent) -> str:
    match content:
        case acp.CallContent(block):
            return block_text(block)
        case acp.CallDiff() | acp.CallTerminal():
            return ""
        case acp.UnknownCallContent():
            return document(content.fields)


def _raw_text(raw: object) -> str:
    """Return a raw output as text: a text, the texts of blocks, else the whole as JSON."""
    match raw:
        case None:
            return ""
        case str(text):
            return text
        case [*blocks]:
            texts = [it.get("text") for it in blocks if isinstance(it, dict)]
            words = [text for text in texts if isinstance(text, str)]
            return "\n".join(words) if len(words) == len(blocks) else document(raw)
        case _:
            return document(raw)


def _unfenced(text: str) -> str:
    """Return the text in a fence that surrounds all of it; other text as it is."""
    first, _, rest = text.strip().partition("\n")
    fence = first[: len(first) - len(first.lstrip("`"))]
    body, _, last = rest.rpartition("\n")
    if len(fence) < 3 or last != fence or "`" in first[len(fence) :] or f"\n{fence}" in f"\n{body}":
        return text
    return body
