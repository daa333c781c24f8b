"""Translator: the door between today's protocol, which the rest speaks, and one server's own.

A server of today passes it unchanged, except for a chat id that it has created itself. What has no
form in the server's protocol is not sent, and a line in the chat says so once. A stop is answered
each time.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from eca_nvim.agents.eca.older.chat_ids import ChatIds
from eca_nvim.agents.eca.older.dialect import Dialect, Generation, Lack
from eca_nvim.agents.eca.older.draft import Draft, Hear, shown
from eca_nvim.agents.eca.older.forms import Message, needs, older_prompt, with_plain_name
from eca_nvim.agents.eca.prompts import SelectedPrompt
from eca_nvim.chat.vocabulary import events, turn_events
from eca_nvim.protocol.eca import (
    Notification,
    Request,
    Unknown,
    chat,
    content,
    encode,
    lifecycle,
    tools,
)
from eca_nvim.protocol.eca import contexts as eca_contexts
from eca_nvim.protocol.eca.draft import FileChangeContent
from eca_nvim.protocol.eca.tool_call import ToolCall

Send = Callable[[str, Mapping[str, Any]], None]
Tell = Callable[[str, events.ChatEvent], None]

_TURN: Final = (content.ContentReceived, chat.StatusChanged)
"""Messages about a running turn, whose chat may be the one that waits for its id."""


class Translator:
    """Translates the messages of one server process.

    send: sends a notification as it is on the wire. hear: handles today's messages that the server
    would have sent. tell: shows an event in a chat. is_replayed: whether a chat is being replayed.
    """

    def __init__(
        self,
        dialect: Dialect,
        ids: ChatIds,
        draft: Draft,
        send: Send,
        hear: Hear,
        tell: Tell,
        is_replayed: Callable[[str], bool],
    ) -> None:
        self.dialect = dialect
        self.ids = ids
        self._draft = draft
        self._send = send
        self._hear = hear
        self._tell = tell
        self._is_replayed = is_replayed
        self._held: list[Message] = []  # until a response says which chat they are about
        self._stops: set[str] = set()  # our ids of chats that the server has not named yet
        self._last: dict[str, SelectedPrompt] = {}  # by our chat id, the prompt sent last
        # By our chat id, the answer to a login that has no response, and the turn's end before it.
        self._logins: dict[str, tuple[SelectedPrompt, list[Message]]] = {}
        self._resources: dict[str, eca_contexts.McpResourceContext] = {}
        self._reported: set[Lack] = set()

    # --- what the server sends -------------------------------------------------------------------

    def introduction(self, result: lifecycle.InitializeResult) -> chat.ConfigUpdated:
        """Return what older servers say of their choices in the response to initialize."""
        self.dialect.read_introduction(result)
        return chat.ConfigUpdated(
            chat=chat.ChatConfig(
                models=result.models,
                agents=result.agents,
                default_model=result.default_model,
                default_agent=result.default_agent,
                welcome_message=result.welcome_message,
            )
        )

    def read(self, message: Message) -> Sequence[object]:
        """Return a notification as today's, with our ids, or nothing yet: hot path."""
        if not self.dialect.is_today or type(message) is chat.ConfigUpdated:
            self.dialect.read(message)
        theirs = getattr(message, "chat_id", None)
        if theirs is None:
            return (self._without_chat(message),)
        ours = self.ids.by_theirs.get(theirs) or self._meet(message, theirs)
        if ours is None:
            return ()
        if self.ids.unheard or self._stops:
            self.ids.unheard.pop(ours, None)
            if ours in self._stops:  # a stop that has waited until the server names its chat
                self._send_stop(ours, is_over=_ends(message))
        if ours != theirs:
            message = replace(message, chat_id=ours)
        if type(message) is not content.ContentReceived or (
            type(message.content) is content.TextContent
            and message.parent_chat_id is None
            and message.is_complete is None
        ):
            return (message,)
        return self._content(message, ours)

    def _content(self, received: content.ContentReceived, ours: str) -> Sequence[object]:
        if ours in self._logins and _ends(received):
            self._logins[ours][1].append(received)
            return ()
        if isinstance(received.content, ToolCall):
            received = with_plain_name(received, received.content)
        if received.parent_chat_id is not None:
            parent = self.ids.ours(received.parent_chat_id)
            received = replace(received, parent_chat_id=parent)
        if received.is_complete is None and type(received.content) is not FileChangeContent:
            return (received,)
        if self.dialect.generation is Generation.DRAFT and not self._is_replayed(ours):
            return self._draft.read(ours, received)
        return (shown(received),)

    def _meet(self, message: Message, theirs: str) -> str | None:
        """Return our id for a new one of the server; None if it is not known yet, or left."""
        if not isinstance(message, _TURN):
            return self.ids.ours(theirs)
        if self.ids.is_left(theirs):
            return None
        if self.ids.is_doubtful(theirs):
            self._held.append(message)
            return None
        return self.ids.ours(theirs, adopt=getattr(message, "parent_chat_id", None) is None)

    def _without_chat(self, message: Message) -> object:
        """Return a message that names no chat by `chatId`, with our ids in it."""
        match message:
            case tools.JobsUpdated(jobs=jobs):
                ours = [
                    it if it.chat_id is None else replace(it, chat_id=self.ids.ours(it.chat_id))
                    for it in jobs
                ]
                return tools.JobsUpdated(jobs=tuple(ours))
            case Unknown(method, {"chatId": str(theirs), **rest}):
                return Unknown(method, {"chatId": self.ids.ours(theirs), **rest})
            case content.ContentReceived(content=FileChangeContent()):
                return shown(message)
            case _:
                return message

    # --- what we send ----------------------------------------------------------------------------

    def notify(self, message: Notification) -> None:
        """Send a notification in the form of the server, or what stands for it there."""
        match message:
            case chat.SelectedAgentChanged(chat_id=str(chat_id), agent=agent):
                self._select_agent(chat_id, agent)
                return
            case chat.SelectedModelChanged() | chat.PromptSteer() | chat.PromptSteerRemove():
                if not self.dialect.is_today:
                    return
            case chat.PromptStop(chat_id=chat_id):
                self._stop(chat_id)
                return
            case chat.ToolCallReject(chat_id=chat_id, tool_call_id=call_id):
                if self._draft.waiting and self._draft.decide(chat_id, call_id, approved=False):
                    return
            case chat.ToolCallApprove(chat_id=chat_id, tool_call_id=call_id):
                if self._draft.waiting and self._draft.decide(chat_id, call_id, approved=True):
                    return
                if message.save and self._report(chat_id, Lack.REMEMBER):
                    message = replace(message, save=None)
        self._send(message.method, self.params(message))

    def params(self, message: Notification | Request[Any]) -> dict[str, Any]:
        """Return a message with the server's id of its chat, and both names of an agent.

        Each server ignores the name that it does not know.
        """
        params = encode(message)
        if isinstance(ours := params.get("chatId"), str):
            params["chatId"] = self.ids.by_ours.get(ours, ours)
        if "agent" in params and message.method == chat.PromptParams.method:
            params["behavior"] = params["agent"]
        if agent := params.get("initializationOptions", {}).get("chatAgent"):
            params["initializationOptions"]["chatBehavior"] = agent
        return params

    def _select_agent(self, chat_id: str, agent: str) -> None:
        """Send the choice of an agent; that of a behavior names no chat."""
        if self._report_agent(chat_id):
            return
        if self.dialect.speaks_of_behaviors:
            self._send(chat.SelectedBehaviorChanged.method, {"behavior": agent})
        elif self.ids.was_prompted(chat_id):  # for others it would be lost
            message = chat.SelectedAgentChanged(chat_id=chat_id, agent=agent)
            self._send(message.method, self.params(message))

    def _report_agent(self, chat_id: str) -> bool:
        """Take back the choice of an agent that the server does not have; return whether it is."""
        lacks = self._report(chat_id, Lack.AGENT)
        if lacks:
            config = chat.ChatConfig(select_agent="")
            self._hear([chat.ConfigUpdated(chat_id=chat_id, chat=config)])
        return lacks

    def prompt(self, prompt: SelectedPrompt, todays: chat.PromptParams) -> chat.PromptParams:
        """Return a prompt, which is sent next, in the form of the server.

        Without an id the server makes a chat.
        """
        params, chat_id = self._in_its_form(prompt, todays), prompt.chat_id
        if params.chat_id is None:  # today's server says so itself
            self._hear([chat.ChatOpened(chat_id=chat_id)])
        self._stops.discard(chat_id)
        self._logins.pop(chat_id, None)
        self.ids.prompted(chat_id, starts_chat=params.chat_id is None)
        self._last[chat_id] = prompt
        if self.dialect.generation <= Generation.DRAFT:
            self._draft.prompted(chat_id)
        return params

    def login_answer(
        self, answer: SelectedPrompt, todays: chat.PromptParams, *, cancels: bool
    ) -> chat.PromptParams:
        """Return an answer to a login, which is sent next, in the form of the server."""
        self._logins.pop(answer.chat_id, None)
        if not (self.dialect.is_today or cancels):
            self._logins[answer.chat_id] = (answer, [])
        return self._in_its_form(answer, todays)

    def _in_its_form(self, prompt: SelectedPrompt, todays: chat.PromptParams) -> chat.PromptParams:
        if self.dialect.is_today:
            return todays
        if prompt.selection.agent and self.dialect.lacks(Lack.AGENT):
            self._report_agent(prompt.chat_id)
        if prompt.contexts:
            self._report_contexts(prompt)
        theirs = self.ids.minted(prompt.chat_id)
        return older_prompt(prompt, theirs, self.dialect, self._resources)

    def leave(self, prompt: SelectedPrompt, theirs: str | None) -> bool:
        """Stop the server's chat of a prompt if a newer one has begun the chat since.

        Return whether one has: the server has two for the chat.
        """
        chat_id = prompt.chat_id
        if prompt is self._last.get(chat_id) or not self.ids.is_replaced(chat_id):
            return False
        self.ids.leave(chat_id, theirs)
        if theirs is not None and not self.dialect.lacks(Lack.STOP):
            self._send(chat.PromptStop.method, {"chatId": theirs})
        self._hear(self._take_held())
        return True

    def answered(
        self, prompt: SelectedPrompt, result: chat.PromptResult | None, *, accepted: bool
    ) -> bool:
        """Read the response to a prompt; returns whether it was the first message about it."""
        chat_id, dialect = prompt.chat_id, self.dialect
        said: list[object] = []
        asks_again = False
        theirs = result.chat_id if result is not None else None
        if result is not None:
            dialect.read_answer(result)
            if not accepted and dialect.is_today:  # it may have refused the id
                theirs = None
            asks_again = not dialect.is_today and result.status is chat.PromptStatus.LOGIN
            if asks_again:
                said.append(chat.StatusChanged(chat_id=chat_id, status=chat.ChatStatus.LOGIN))
            if result.result_message and accepted:
                progress = content.ProgressContent(text=result.result_message)
                said.append(content.ContentReceived(chat_id=chat_id, content=progress))
        answer, ends = self._logins.get(chat_id, (None, ()))
        if prompt is answer:
            # The answer to a login is a prompt there: its turn begins if the response does not ask
            # again. Today's server says so with statuses.
            del self._logins[chat_id]
            if accepted and not asks_again:
                running = chat.StatusChanged(chat_id=chat_id, status=chat.ChatStatus.RUNNING)
                said += [running, *ends]
        is_first = self.ids.answered(chat_id, theirs)
        if prompt.contexts:
            self._report_contexts(prompt)
        if said or self._held:
            self._hear([*said, *self._take_held()])
        if chat_id in self._stops and prompt is self._last.get(chat_id):
            self._send_stop(chat_id, is_over=not accepted)
        return is_first

    def note_resources(self, found: Sequence[eca_contexts.Context]) -> None:
        """Note what a server lists of its resources: older ones want it with a prompt."""
        listed = [it for it in found if isinstance(it, eca_contexts.McpResourceContext)]
        self._resources |= {it.uri: it for it in listed}

    def begin_again(self, chat_id: str) -> None:
        """Note that the next prompt of a chat begins another one of the server; the old one stays.

        Servers before today's create the id of a chat that has none.
        """
        if self.dialect.is_today or self.dialect.generation is Generation.UNKNOWN:
            self.ids.set_aside(chat_id)
        else:
            self.forget(chat_id)

    def forget(self, chat_id: str) -> None:
        """Note that the server no longer has a chat."""
        self.ids.forgotten(chat_id)
        self._draft.forget(chat_id)
        self._last.pop(chat_id, None)

    def _stop(self, chat_id: str) -> None:
        if not self._draft.stop(chat_id):
            self._stops.add(chat_id)
            self._send_stop(chat_id)

    def _send_stop(self, chat_id: str, *, is_over: bool = False) -> None:
        """Send a stop once the chat has an id of the server: an older one first has to name it."""
        ids, lacks = self.ids, self.dialect.lacks(Lack.STOP)
        theirs = ids.theirs(chat_id) if self.dialect.is_today else ids.minted(chat_id)
        if is_over or lacks or theirs is not None:
            self._stops.discard(chat_id)
        if is_over:
            return
        if lacks:
            self._tell(chat_id, turn_events.StopRefused(Lack.STOP.message))
        elif theirs is not None:
            self._send(chat.PromptStop.method, {"chatId": theirs})

    def _take_held(self) -> Sequence[object]:
        held, self._held = self._held, []
        return [message for it in held for message in self.read(it)]

    def _report_contexts(self, prompt: SelectedPrompt) -> None:
        for lack in needs(prompt, self._resources):
            self._report(prompt.chat_id, lack)

    def _report(self, chat_id: str, lack: Lack) -> bool:
        """Return whether the server lacks a feature, and report it the first time."""
        lacks = self.dialect.lacks(lack)
        if lacks and lack not in self._reported:
            self._reported.add(lack)
            self._tell(chat_id, events.NoticeReceived(lack.message))
        return lacks


def _ends(message: Message) -> bool:
    """Return whether a message ends a turn: older servers say only `finished`."""
    match message:
        case content.ContentReceived(content=content.ProgressContent(state=state)):
            return state is content.ProgressState.FINISHED
        case content.ContentReceived(is_complete=is_complete):
            return bool(is_complete)
        case _:
            return False
