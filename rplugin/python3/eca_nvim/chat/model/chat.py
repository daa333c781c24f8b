"""Chat: a conversation as one aggregate, and the small records it is made of.

Rules kept here:
- Data only: what happens to it is in `handlers`.
- A lane is one conversation: the chat's own (`root`), or a subagent's inside it. Blocks of a
  subagent's lane follow their anchor, the tool call that spawned it.
- Times are milliseconds of whatever clock the caller uses.
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
from eca_nvim.chat.vocabulary.call_details import TaskList
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.events import AgentTurn, UsageReported
from eca_nvim.chat.vocabulary.shown_request import Request
from eca_nvim.chat.vocabulary.states import Turn, TurnEnd


class Lane(Struct, eq=False):
    """One conversation: what is being said in it, and its blocks by the agent's ids.

    calls: the last call of each id; an agent may use one again (call_ids.py).
    """

    chat_id: str
    depth: int = 0
    anchor: ToolBlock | None = None
    blocks: list[Block] = field(default_factory=list)
    speaking: TextBlock | None = None
    calls: dict[str, ToolBlock] = field(default_factory=dict)
    thoughts: dict[str, ReasoningBlock] = field(default_factory=dict)
    hooks: dict[str, HookBlock] = field(default_factory=dict)

    @property
    def is_shown(self) -> bool:
        """Say whether the lane's blocks are in the view."""
        return self.anchor is None or self.anchor.is_open

    def shows(self, block: Block) -> bool:
        """Say whether a block of the lane is in the view."""
        return self.is_shown and (block.group is None or block.group.is_open)


class QueueKind(StrEnum):
    """Why a prompt waits. STEER: told to the running turn. REASON: why a call was rejected."""

    STEER = "steer"
    QUEUE = "queue"
    REASON = "reason"


class Naming(StrEnum):
    """Who gives a chat its title.

    AGENT: the agent, whenever it likes. DOUBTFUL: the same, until this process of the agent turns
    out not to know the chat. KEPT: nobody but the user, as it does not.
    """

    AGENT = "agent"
    DOUBTFUL = "doubtful"
    KEPT = "kept"


class Waiting(Struct, frozen=True):
    """A prompt that waits for the turn."""

    kind: QueueKind
    text: str
    contexts: tuple[Context, ...] = ()


class RunningTurn(Struct):
    """The turn that runs.

    owed: the agent says the end of a turn with two words; this is the one of the last turn that
    has not come yet, and must not end the next. unanswered: prompts without PromptAnswered.
    expected_end: why the turn ends when the agent says that it does and nobody has stopped it; a
    rejected call sets it, new text takes that back. number: counts the chat's turns from 1; 0
    before the first. heard_ms: when the agent last said something, or was last told or asked
    something. asked: how often it was asked about the turn since it last said something.
    """

    state: Turn = Turn.IDLE
    started_ms: int = 0
    owed: AgentTurn | None = None
    unanswered: int = 0
    expected_end: TurnEnd = TurnEnd.DONE
    number: int = 0
    heard_ms: int = 0
    asked: int = 0

    def heard(self, now: int) -> None:
        """Begin to wait for the next word of the agent."""
        self.heard_ms, self.asked = now, 0


class Selected(Struct):
    """What answers the chat's prompts, as far as it is known."""

    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    trust: bool = False


class Older(Struct, frozen=True):
    """Messages that are not loaded: the agent's cursor to them, and the block in their place."""

    cursor: str
    block: OlderBlock


class Chat(Struct, eq=False):
    """A conversation with an agent.

    live: blocks that are not over: calls, thoughts, questions; few at any time.
    pending: what the user is asked for, by the block of the call or question that waits.
    unconfirmed: prompts shown at once that the agent has not echoed.
    stale: blocks whose header may read differently in the view until the next update.
    anchors: the tool call that spawned a subagent, by the subagent's chat id.
    task_list: the agent's, with the block of the call that sent it last, and the turn it was in.
    retrying: `activity` says that the agent tries again what failed.
    """

    id: str
    settings: RenderSettings = field(default_factory=RenderSettings)
    title: str | None = None
    naming: Naming = Naming.AGENT
    server: str = "stopped"
    turn: RunningTurn = field(default_factory=RunningTurn)
    selected: Selected = field(default_factory=Selected)
    usage: UsageReported | None = None
    activity: str | None = None
    retrying: bool = False
    task_list: TaskList | None = None
    task_list_block: ToolBlock | None = None
    task_list_turn: int = 0
    deleted: bool = False
    older: Older | None = None
    blocks: dict[int, Block] = field(default_factory=dict)
    lanes: dict[str, Lane] = field(default_factory=dict)
    anchors: dict[str, ToolBlock] = field(default_factory=dict)
    live: dict[int, tuple[Block, Lane]] = field(default_factory=dict)
    stale: dict[int, tuple[Block, Lane]] = field(default_factory=dict)
    pending: dict[int, Request] = field(default_factory=dict)
    queue: list[Waiting] = field(default_factory=list)
    unconfirmed: list[TextBlock] = field(default_factory=list)
    shown_status: Mapping[str, object] | None = None
    last_block: int = 0

    def __post_init__(self) -> None:
        self.lanes[self.id] = Lane(self.id)

    @property
    def root(self) -> Lane:
        """The chat's own lane."""
        return self.lanes[self.id]

    def lane(self, child: str | None) -> Lane:
        """Give the lane of a subagent's chat, made when it is new; None is the chat itself."""
        if child is None:
            return self.root
        lane = self.lanes.get(child)
        if lane is None:
            lane = self.lanes[child] = Lane(child, depth=1, anchor=self.anchors.get(child))
        return lane

    def ask(self, block_id: int, now: int) -> Request:
        """Let a block wait for the user."""
        request = self.pending[block_id] = Request(f"{self.id}:{block_id}:{now}", now)
        return request
