"""Panel: what each panel is made of, and what all of them may use."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final

from msgspec import Struct

from eca_nvim.chat.text.safe_text import one_line, truncate, width
from eca_nvim.chat.vocabulary.bases import Intent
from eca_nvim.chat.vocabulary.panels import Action, Cell, Row
from eca_nvim.review.ledger import Ledger
from eca_nvim.session.chats import Chats
from eca_nvim.session.files.checkpoints import Checkpoints
from eca_nvim.session.installs import Installs
from eca_nvim.session.servers import NamedServer, Servers
from eca_nvim.session.view import View

LONGEST_CELL: Final = 300
"""Cells of a text in a row; the window wraps it."""

CHARACTERS_A_CELL: Final = 8
"""Most characters of a text that are read for a cell: escapes and marks have no width."""

ANSWER_SECONDS: Final = 30.0
"""Time for an action to show its effect, unless it says otherwise."""

Answer = Mapping[str, str | int]
"""What the view does next (`chat.vocabulary.panels.ActInPanel`)."""


class Scene(Struct, frozen=True):
    """What a panel shows and acts on; `chats.changed` has it drawn again.

    do: does what an intent says, as if the user did it elsewhere. Raises what its handler raises.
    """

    chats: Chats
    servers: Servers
    view: View
    ledger: Ledger
    do: Callable[[Intent], Awaitable[Any]]
    checkpoints: Callable[[], Checkpoints]
    installs: Callable[[], Installs]


class Panel(ABC):
    """A panel that is shown. All texts of others pass `cell` before they are in a row."""

    ACTIONS: ClassVar[Sequence[Action]] = ()

    def __init__(self, scene: Scene, chat_id: str | None) -> None:
        self.scene = scene
        self.chat_id = chat_id
        chat = scene.chats.table.get(chat_id or "")
        self._server_name = (chat and chat.server_name) or scene.chats.default_server
        self.in_view: Sequence[str] = ()
        """The chats that the view had when the panel was shown."""
        self.opened = set[str]()
        """The rows whose details are shown."""

    @property
    def server(self) -> NamedServer:
        """The server of the chat from which the panel was opened, also if that is gone."""
        return self.scene.servers.get(self._server_name)

    @property
    @abstractmethod
    def title(self) -> str:
        """What is shown above the rows, in one line."""

    @abstractmethod
    def rows(self) -> Iterable[Row]:
        """Yield the rows as they are now: one that says why, if there is nothing to show."""

    async def begin(self) -> None:  # noqa: B027 - most know it already
        """Ask for what is shown; called once. Raises AgentRefused, which is shown as a row."""

    @abstractmethod
    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:
        """Do an action, and return once it has shown its effect. Raises Refused, AgentRefused."""

    def end(self) -> None:  # noqa: B027 - most leave nothing behind
        """Forget what was opened for the panel; it is shown no more."""

    def toggle(self, row: str) -> None:
        """Show or hide the details of a row."""
        self.opened ^= {row}

    def seconds_for(self, action: str) -> float:  # noqa: ARG002 - most take the same time
        """Return the time in which an action shows its effect."""
        return ANSWER_SECONDS


def cell(text: object, cells: int = LONGEST_CELL) -> str:
    """Return the text of others as one safe line of at most so many cells."""
    return _safe(str(text)[: cells * CHARACTERS_A_CELL], cells)


@lru_cache(maxsize=1 << 14)  # five thousand tools have 10,000 texts, made again each second
def _safe(text: str, cells: int) -> str:
    return truncate(one_line(text), cells)


def column(text: object, cells: int, group: str = "") -> Cell:
    """Return the text of others as a column."""
    return (cell(text), group, cells)


def whole_column(text: object, cells: int, group: str = "") -> Cell:
    """Return the text of others as a column, or whole if it is longer."""
    whole = cell(text)
    return (whole, group, cells) if width(whole) <= cells else (f"{whole} ", group, 0)


def rest(text: object, group: str = "") -> Cell:
    """Return the text of others as the end of a row."""
    return (cell(text), group, 0)


def note(text: str, group: str = "EcaMuted") -> Row:
    """Return a row that only says something."""
    return Row(f"note:{text}", [rest(text, group)])
