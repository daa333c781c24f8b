"""Chat: the state of a conversation, and the records it consists of.

Rules kept here:
- Data only: `handlers` and `user_actions` change it.
- A lane is one thread of conversation: the chat's own (`root`), or a subagent's. The blocks of a
  subagent's lane are shown below its anchor, the tool call that runs the subagent.
- Times are in milliseconds, of any clock the caller chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from eca_nvim.chat.model.blocks import (
    Block,
    HookBlock,
    OlderBlock,
    ReasoningBlock,
    TextBlock,
    ToolBlock,
)
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.used_files import UsedFiles
from eca_nvim.chat.vocabulary.abilities import ALL_ABILITIES, Ability
from eca_nvim.chat.vocabulary.call_details import TaskList
from eca_nvim.chat.vocabulary.commands import Command
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.ops import DEFAULT_SERVER
from eca_nvim.chat.vocabulary.options import ChatOption, OptionValue
from eca_nvim.chat.vocabulary.shown_request import Request
from eca_nvim.chat.vocabulary.states import History, Turn, TurnEnd
from eca_nvim.chat.vocabulary.usage import UsageReported


class Lane(Struct, eq=False):
    """One thread of conversation: its blocks, also by the agent's ids.

    current_text: the model's text that is still growing. calls: the last call of each id, because
    agents reuse ids (call_ids.py).
    """

    chat_id: str
    depth: int = 0
    anchor: ToolBlock | None = None
    blocks: list[Block] = field(default_factory=list)
    current_text: TextBlock | None = None
    calls: dict[str, ToolBlock] = field(default_factory=dict)
    reasoning: dict[str, ReasoningBlock] = field(default_factory=dict)
    hooks: dict[str, HookBlock] = field(default_factory=dict)

    @property
    def is_shown(self) -> bool:
        """Whether the lane's blocks are in the view."""
        return self.anchor is None or self.anchor.is_open

    def shows(self, block: Block) -> bool:
        """Return whether a block of the lane is in the view."""
        return self.is_shown and (block.group is None or block.group.is_open)


class QueueKind(StrEnum):
    """Why a prompt waits.

    STEER: sent to the running turn. CORRECTION: meant for it, but the agent cannot be steered.
    REASON: why a call was rejected. NEXT: the history changes; after that no prompt has this kind.
    """

    STEER = "steer"
    CORRECTION = "correction"
    NEXT = "next"
    QUEUE = "queue"
    REASON = "reason"


class TitleOwner(StrEnum):
    """Who may set the title of a chat.

    AGENT: the agent, at any time. UNSURE: the agent, unless its new process turns out not to know
    the chat. USER: only the user, because the agent does not know the chat.
    """

    AGENT = "agent"
    UNSURE = "unsure"
    USER = "user"


class QueuedPrompt(Struct, frozen=True):
    """A prompt that waits for the turn to end or to read it, or for the history to change."""

    kind: QueueKind
    text: str
    contexts: tuple[Context, ...] = ()


class RunningTurn(Struct):
    """The turn that runs, or ran last.

    expected_end: the reason to report when the agent ends the turn by itself; a rejected call sets
    it, new text of the model resets it. number: counts the chat's turns from 1; 0 before the first.
    by_command: its prompt is a command, which may work silently.
    last_activity_ms: when the agent last sent something. times_asked: how
    often we asked about the turn since the agent's last event.
    """

    state: Turn = Turn.IDLE
    started_ms: int = 0
    expected_end: TurnEnd = TurnEnd.DONE
    number: int = 0
    by_command: bool = False
    last_activity_ms: int = 0
    times_asked: int = 0

    def note_activity(self, now: int) -> None:
        """Restart the time after which a silent agent is asked about its turn."""
        self.last_activity_ms, self.times_asked = now, 0


class OlderMessages(Struct, frozen=True):
    """Messages that are not loaded: the agent's cursor, and the block in their place."""

    cursor: str
    block: OlderBlock


class Chat(Struct, eq=False):
    """A conversation with an agent.

    live: blocks that have not ended: calls, reasoning, questions; few at any time.
    pending: requests that wait for the user, by the block of the call or question.
    unconfirmed: prompts that are shown but not yet echoed by the agent.
    stale: blocks whose header in the view may be out of date until the next update.
    status_is_stale: the status in the view may be out of date, too.
    anchors: the tool call that runs a subagent, by the subagent's chat id.
    used: the files that the agent has used.
    server_ms: when its server came into its state, as `Update.now`.
    forgotten: the view has removed the chat, so nothing of it is shown or sent any more.
    task_list: the agent's, with the block of the call that sent it last, and that call's turn.
    commands: those the agent knows. options: what the user can set. asked_options: by id, values
    that he has set and the agent has not listed yet. trust: tools run without asking. abilities:
    what the agent can do. retrying: `activity` says that it is trying again after a failure.
    """

    id: str
    settings: RenderSettings = field(default_factory=RenderSettings)
    title: str | None = None
    title_owner: TitleOwner = TitleOwner.AGENT
    server_name: str = DEFAULT_SERVER
    server: str = "stopped"
    server_ms: int = 0
    turn: RunningTurn = field(default_factory=RunningTurn)
    history: History = History.SETTLED
    usage: UsageReported | None = None
    activity: str | None = None
    retrying: bool = False
    used: UsedFiles = field(default_factory=UsedFiles)
    task_list: TaskList | None = None
    task_list_block: ToolBlock | None = None
    task_list_turn: int = 0
    commands: tuple[Command, ...] = ()
    options: tuple[ChatOption, ...] = ()
    asked_options: dict[str, OptionValue] = field(default_factory=dict)
    trust: bool = False
    abilities: frozenset[Ability] = ALL_ABILITIES
    deleted: bool = False
    forgotten: bool = False
    older: OlderMessages | None = None
    blocks: dict[int, Block] = field(default_factory=dict)
    lanes: dict[str, Lane] = field(default_factory=dict)
    anchors: dict[str, ToolBlock] = field(default_factory=dict)
    live: dict[int, tuple[Block, Lane]] = field(default_factory=dict)
    stale: dict[int, tuple[Block, Lane]] = field(default_factory=dict)
    pending: dict[int, Request] = field(default_factory=dict)
    queue: list[QueuedPrompt] = field(default_factory=list)
    unconfirmed: list[TextBlock] = field(default_factory=list)
    shown_status: Mapping[str, object] | None = None
    status_is_stale: bool = False
    last_block: int = 0

    def __post_init__(self) -> None:
        self.lanes[self.id] = Lane(self.id)

    @property
    def root(self) -> Lane:
        """The chat's own lane."""
        return self.lanes[self.id]

    @property
    def has_turn(self) -> bool:
        """Whether a turn or a login runs, or will run when the history has changed."""
        return self.turn.state is not Turn.IDLE or self.awaits_history

    @property
    def shows_time(self) -> bool:
        """Whether a time is shown that grows: of a turn, or of a server that starts."""
        return self.has_turn or self.server == "starting"

    @property
    def awaits_history(self) -> bool:
        """Whether a prompt waits for the history to change."""
        return any(waiting.kind is QueueKind.NEXT for waiting in self.queue)

    @property
    def is_blank(self) -> bool:
        """Whether the chat has no messages yet."""
        return not any(isinstance(block, TextBlock) for block in self.root.blocks)

    def lane(self, child: str | None) -> Lane:
        """Return the lane of a subagent's chat, created if it is new; None is the chat itself."""
        if child is None:
            return self.root
        lane = self.lanes.get(child)
        if lane is None:
            lane = self.lanes[child] = Lane(child, depth=1, anchor=self.anchors.get(child))
        return lane

    def ask(self, block_id: int, now: int) -> Request:
        """Add a request to the user, shown in a block; `now` in ms."""
        request = self.pending[block_id] = Request(f"{self.id}:{block_id}:{now}", now)
        return request
