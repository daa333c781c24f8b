"""Client requests: files (fs/*) and terminals (terminal/*) of the client."""

from eca_nvim.protocol.acp.content import NamedValue
from eca_nvim.protocol.base.types import Int, Request, Wire


class Done(Wire, frozen=True):
    """The answer to a request that has nothing to tell."""


class FileText(Wire, frozen=True):
    """The text of a file, or of some of its lines."""

    content: str


class ReadTextFile(Request[FileText], frozen=True):
    """Read a file. line: the first one, 1-based; limit: how many lines."""

    method = "fs/read_text_file"
    session_id: str
    path: str
    line: Int | None = None
    limit: Int | None = None


class WriteTextFile(Request[Done], frozen=True):
    """Give a file a new text; it is made if it is missing."""

    method = "fs/write_text_file"
    session_id: str
    path: str
    content: str


class TerminalCreated(Wire, frozen=True):
    """The answer to terminal/create."""

    terminal_id: str


class CreateTerminal(Request[TerminalCreated], frozen=True):
    """Start a command; `cwd` is absolute, None is the session's.

    env: variables that are added. output_byte_limit: so many bytes of its output are kept, the last
    ones.
    """

    method = "terminal/create"
    session_id: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[NamedValue, ...] = ()
    cwd: str | None = None
    output_byte_limit: Int | None = None


class ExitStatus(Wire, frozen=True):
    """How a command ended: with an exit code, or by the signal with this name."""

    exit_code: Int | None = None
    signal: str | None = None


class OutputSoFar(Wire, frozen=True):
    """What a command has printed; `exit_status` is missing while it runs."""

    output: str
    truncated: bool
    exit_status: ExitStatus | None = None


class _OfTerminal(Wire, frozen=True):
    session_id: str
    terminal_id: str


class ReadOutput(_OfTerminal, Request[OutputSoFar], frozen=True):
    """Return the output at once."""

    method = "terminal/output"


class WaitForExit(_OfTerminal, Request[ExitStatus], frozen=True):
    """Answer when the command has ended."""

    method = "terminal/wait_for_exit"


class KillTerminal(_OfTerminal, Request[Done], frozen=True):
    """End the command; its output can still be read."""

    method = "terminal/kill"


class ReleaseTerminal(_OfTerminal, Request[Done], frozen=True):
    """End the command if it runs, and forget its id."""

    method = "terminal/release"
