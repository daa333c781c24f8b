"""Chat: the state of a conversation, finding turns and calls, and which chat shows an event."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field

from eca_nvim.chat.model.blocks import Block, Lane, OlderBlock, TextBlock, ToolBlock
from eca_nvim.chat.model.calls import changed_paths, may_change
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.model.used_files import UsedFiles
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary import (
    call_details,
    completion,
    events,
    ops,
    requests,
    states,
    turn_events,
)
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, Ability, ChatOption, OptionValue


class QueueKind(StrEnum):
    """Why a prompt waits, in the order in which they are sent.

    REASON: why a call was rejected. STEER: sent to the running turn. CORRECTION: meant for it, but
    the agent cannot be steered. NEXT: the history changes; after that no prompt has this kind.
    NOTE: what of a change was allowed, which waits for a turn that reads it, or for a prompt.
    """

    REASON = "reason"
    STEER = "steer"
    CORRECTION = "correction"
    NEXT = "next"
    QUEUE = "queue"
    NOTE = "note"


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
    by_command: its prompt is a command, which may work silently. last_activity_ms: when the agent
    last sent something. times_asked: how often we asked about the turn since then. activity: what
    the agent says it is doing; retrying: that is to try again after a failure. sent_tasks: the
    agent has sent its task list since the turn began. end: why it ended; None: it has not. model:
    the name of the one that was selected when it began, "" if none is known.
    """

    state: states.Turn = states.Turn.IDLE
    started_ms: int = 0
    number: int = 0
    expected_end: states.TurnEnd = states.TurnEnd.DONE
    by_command: bool = False
    last_activity_ms: int = 0
    times_asked: int = 0
    activity: str | None = None
    retrying: bool = False
    sent_tasks: bool = False
    end: states.TurnEnd | None = None
    model: str = ""

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
    unconfirmed: prompts that are shown but not yet echoed by the agent.
    partial: calls that were allowed in part and have not ended.
    stale: blocks whose header in the view may be out of date until the next update.
    status_is_stale: the status in the view may be out of date, too.
    anchors: the tool call that runs a subagent, by the subagent's chat id.
    used: the files that the agent has used.
    server_ms: when its server came into its state, as `Update.now`.
    forgotten: the view has removed the chat, so nothing of it is shown or sent any more.
    unseen: its last turn has ended while no window showed it.
    task_list_block: that of the call that sent the agent's task list last.
    commands: those the agent knows. options: what the user can set; shown_options: what the status
    says of them. asked_options: by id, values that the user has set and the agent has not listed
    yet. trust: tools run without asking. abilities: what the agent can do. recap: what was
    said so far, for a new session, which gets it with each prompt until it has answered one; None:
    it has no new one.
    """

    id: str
    settings: RenderSettings = field(default_factory=RenderSettings)
    title: str | None = None
    title_owner: TitleOwner = TitleOwner.AGENT
    server_name: str = ops.DEFAULT_SERVER
    server: str = "stopped"
    server_ms: int = 0
    turn: RunningTurn = field(default_factory=RunningTurn)
    history: states.History = states.History.SETTLED
    usage: turn_events.UsageReported | None = None
    used: UsedFiles = field(default_factory=UsedFiles)
    task_list_block: ToolBlock | None = None
    commands: tuple[completion.Command, ...] = ()
    options: tuple[ChatOption, ...] = ()
    shown_options: Mapping[str, object] = {}
    asked_options: dict[str, OptionValue] = field(default_factory=dict)
    trust: bool = False
    abilities: frozenset[Ability] = ALL_ABILITIES
    deleted: bool = False
    forgotten: bool = False
    unseen: bool = False
    older: OlderMessages | None = None
    blocks: dict[int, Block] = field(default_factory=dict)
    lanes: dict[str, Lane] = field(default_factory=dict)
    anchors: dict[str, ToolBlock] = field(default_factory=dict)
    live: dict[int, Block] = field(default_factory=dict)
    stale: dict[int, Block] = field(default_factory=dict)
    queue: list[QueuedPrompt] = field(default_factory=list)
    unconfirmed: list[TextBlock] = field(default_factory=list)
    recap: str | None = None
    partial: list[ToolBlock] = field(default_factory=list)
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
    def waiting(self) -> Sequence[Block]:
        """The blocks that wait for the user."""
        return [block for block in self.live.values() if block.request is not None]

    @property
    def task_list(self) -> call_details.TaskList | None:
        """The agent's task list."""
        details = self.task_list_block and self.task_list_block.call.details
        return details if isinstance(details, call_details.TaskList) else None

    @property
    def has_turn(self) -> bool:
        """Whether a turn or a login runs, or will run when the history has changed."""
        return self.turn.state is not states.Turn.IDLE or self.awaits_history

    @property
    def shows_time(self) -> bool:
        """Whether a time is shown that grows: of a turn, or of a server that starts."""
        return self.has_turn or self.server == "starting"

    @property
    def awaits_history(self) -> bool:
        """Whether a prompt waits for the history to change."""
        return any(waiting.kind is QueueKind.NEXT for waiting in self.queue)

    @property
    def unsent(self) -> Sequence[str]:
        """The texts of the prompts that wait; a note is not the user's."""
        return [it.text for it in self.queue if it.kind is not QueueKind.NOTE]

    @property
    def notes(self) -> Sequence[str]:
        """The notes for the agent that wait for a prompt."""
        return [it.text for it in self.queue if it.kind is QueueKind.NOTE]

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

    def ask(self, block: Block, now: int) -> requests.Request:
        """Have a block wait for the user; `now` in ms."""
        block.request = requests.Request(f"{self.id}:{block.id}:{now}", now)
        return block.request


def route(chats: Mapping[str, Chat], addressed: events.Addressed) -> tuple[str | None, str | None]:
    """Return the chat id of an event, and the subagent's chat id or None.

    The chat id is None if the agent named no chat; it may be an id we do not know yet.
    """
    chat_id, parent = addressed.chat_id, addressed.parent_id
    if parent is not None:
        return owner(chats, parent), chat_id
    if chat_id is None or chat_id in chats:
        return chat_id, None
    home = owner(chats, chat_id)
    return (chat_id, None) if home == chat_id else (home, chat_id)


def owner(chats: Mapping[str, Chat], chat_id: str) -> str:
    """Return the id of the chat that shows `chat_id`: the parent's for a subagent, else itself."""
    if chat_id not in chats:
        for chat in chats.values():
            if chat_id in chat.lanes or chat_id in chat.anchors:
                return chat.id
    return chat_id


PROMPT_CELLS = 60

_NEVER_RAN = frozenset(
    {states.CallState.PREPARING, states.CallState.WAITING, states.CallState.REJECTED}
)


class PastTurn(Struct):
    """A turn: its number (0 if it was replayed) and its prompt on one line.

    may_have_changed: a call of the turn or of its subagents may have changed files. ran_command: it
    may have changed any file, as a shell command does.
    """

    number: int
    prompt: str
    may_have_changed: bool = False
    ran_command: bool = False


def turns_since(chat: Chat, prompt: TextBlock) -> Sequence[PastTurn]:
    """Return the turn of a message of the user and all later turns, oldest first."""
    turns: list[PastTurn] = []
    for block in chat.root.blocks[chat.root.blocks.index(prompt) :]:
        if isinstance(block, TextBlock) and block.kind is ops.BlockKind.USER:
            if not turns or not block.turn or block.turn != turns[-1].number:
                turns.append(PastTurn(block.turn, truncate(one_line(block.text), PROMPT_CELLS)))
            continue
        for it in _calls(chat, block):
            if it.state not in _NEVER_RAN and may_change(it.call):
                turns[-1].may_have_changed = True
                turns[-1].ran_command |= not changed_paths(it.call)
    return turns


def ran_command(chat: Chat, numbers: Collection[int]) -> bool:
    """Return whether a command of some turns of this Neovim may have changed files."""
    users = (it for it in chat.root.blocks if it.kind is ops.BlockKind.USER)
    first = next((it for it in users if isinstance(it, TextBlock)), None)
    turns = () if first is None else turns_since(chat, first)
    return any(it.ran_command for it in turns if it.number in numbers)


def _calls(chat: Chat, block: Block) -> Iterator[ToolBlock]:
    """Yield the call of a block, and the calls of the subagent it runs."""
    if isinstance(block, ToolBlock):
        yield block
        for lane in chat.lanes.values():
            if lane.anchor is block:
                yield from (it for it in lane.blocks if isinstance(it, ToolBlock))


OPEN_TO_CHANGE = frozenset({states.CallState.PREPARING, states.CallState.WAITING})
"""States in which the agent may still change a call, because nobody has approved it yet."""
_INACTIVE = states.ENDED_CALLS | {states.CallState.WAITING}


# An id names a call within one lane only. Some providers restart their ids in every turn, and two
# calls at a time may have the same id. A call that has ended never runs again: if its id is
# requested again, that is a new call.
def requested_call(lane: Lane, event: events.ToolRequested) -> ToolBlock | None:
    """Return the open call that a request is about; None if the call is new.

    An agent whose requests have ids does not use the id of an open call again.
    """
    block = lane.calls.get(event.call.id)
    if block is None or block.state in states.ENDED_CALLS:
        return None
    is_open = block.state in OPEN_TO_CHANGE or event.request_id is not None
    return block if is_open or is_compatible(block.call, event.call) else None


def active_call(lane: Lane, call: call_details.ToolCall) -> ToolBlock | None:
    """Return the call that runs or has just ended; None if the id is new."""
    # Of two open calls with one id, what runs or ended is the one that does not wait for the user,
    # unless its arguments differ.
    last = block = lane.calls.get(call.id)
    while block and (block.state in _INACTIVE or not is_compatible(block.call, call)):
        block = block.earlier
    return block or last


def is_compatible(known: call_details.ToolCall, received: call_details.ToolCall) -> bool:
    """Return whether two descriptions of a call do not contradict each other."""
    said = (
        (known.name, received.name),
        (known.server, received.server),
        (known.origin, received.origin),
        (known.arguments, received.arguments),
    )
    return known is received or all(
        one is None or other is None or requests.is_same(one, other) for one, other in said
    )
