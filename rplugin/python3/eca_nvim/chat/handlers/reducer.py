"""Reducer: finds the handler for an event of the agent, and lets time (ms) pass."""

from collections.abc import Callable, Mapping
from typing import Any

from eca_nvim.chat.handlers import (
    call_steps,
    chat_state,
    messages,
    questions,
    task_list,
    tool_calls,
    turn,
    used_files,
)
from eca_nvim.chat.model.blocks import Changes, ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.update import Dirty, Update
from eca_nvim.chat.vocabulary import call_details, completion, events, options, states, turn_events

HANDLERS: Mapping[type[events.ChatEvent], Callable[[Update, Any], None]] = {
    events.TextReceived: messages.text_received,
    events.SteerTaken: messages.steer_taken,
    events.ReasoningStarted: messages.reasoning_started,
    events.ReasoningText: messages.reasoning_text,
    events.ReasoningFinished: messages.reasoning_finished,
    events.NoticeReceived: messages.notice_received,
    events.InsteadWanted: messages.instead_wanted,
    events.ToolPreparing: tool_calls.preparing,
    events.ToolRequested: tool_calls.requested,
    events.ToolRunning: tool_calls.running,
    events.ToolOutput: tool_calls.printed,
    events.ToolFinished: tool_calls.finished,
    events.ToolRejected: tool_calls.rejected,
    events.ApprovalWithdrawn: tool_calls.withdrawn,
    events.PlanChanged: task_list.plan_changed,
    turn_events.HookStarted: messages.hook_started,
    turn_events.HookFinished: messages.hook_finished,
    turn_events.LinkReceived: messages.plain_received,
    turn_events.ImageReceived: messages.plain_received,
    turn_events.Job: tool_calls.job_changed,
    call_details.FileUsed: used_files.file_used,
    call_details.FileNamed: used_files.file_named,
    events.FlagReceived: messages.plain_received,
    events.UnknownReceived: messages.unknown_received,
    events.TitleChanged: chat_state.title_changed,
    completion.CommandsChanged: chat_state.commands_changed,
    events.ProgressChanged: chat_state.progress_changed,
    turn_events.UsageReported: chat_state.usage_reported,
    options.OptionsChanged: chat_state.options_changed,
    options.OptionRefused: chat_state.option_refused,
    events.ChatOpened: chat_state.chat_opened,
    events.ChatCleared: chat_state.chat_cleared,
    events.QuestionAsked: questions.question_asked,
    events.QuestionClosed: questions.question_closed,
    turn_events.TurnBegan: turn.turn_began,
    turn_events.StopRefused: turn.stop_refused,
    turn_events.TurnStopping: turn.turn_stopping,
    turn_events.TurnEnded: turn.turn_ended,
    turn_events.LoginBegan: turn.login_began,
    turn_events.LoginWaits: turn.login_waits,
    turn_events.TurnLapsed: turn.turn_lapsed,
    events.ChatDeleted: turn.chat_deleted,
    events.AgentGone: turn.agent_gone,
}


_OF_CHAT = frozenset(
    {
        *(completion.CommandsChanged, options.OptionsChanged, options.OptionRefused),
        *(events.TitleChanged, events.ChatOpened, events.ChatCleared, events.ChatDeleted),
        *(turn_events.TurnBegan, turn_events.TurnStopping),
        *(turn_events.LoginBegan, turn_events.LoginWaits),
    }
)
"""Events that are ignored of a subagent: it shows in its blocks alone."""


def apply(chat: Chat, event: events.ChatEvent, now: int, child: str | None = None) -> Changes:
    """Apply an event; `child` is the subagent's chat id, or None for the chat itself."""
    update = Update(chat, chat.lane(child), now)
    change(update, event)
    return update.finish()


def change(update: Update, event: events.ChatEvent) -> None:
    """Let the next event of an update change its chat."""
    update.about, update.overruled_rejection = None, False
    if not isinstance(event, turn_events.TurnLapsed | turn_events.Job):
        update.chat.turn.note_activity(update.now)
    if type(event) not in _OF_CHAT or update.lane is update.chat.root:
        HANDLERS[type(event)](update, event)
    if update.overruled_rejection:
        turn.stop_for_reason(update)


def tick(chat: Chat, now: int) -> Changes:
    """Update the times that are shown: of the turn, running calls and a server that starts."""
    update = Update(chat, chat.root, now)
    if chat.shows_time:
        update.dirty |= Dirty.STATUS
    if chat.has_turn:
        turn.ask_when_silent(update)
    for block in chat.live.values():
        if isinstance(block, ToolBlock) and block.state is states.CallState.RUNNING:
            update.redraw(block)
    return update.finish()


def abilities_changed(chat: Chat, abilities: frozenset[options.Ability], now: int) -> Changes:
    """Store what the agent can do."""
    update = Update(chat, chat.root, now)
    chat.abilities = abilities
    update.dirty |= Dirty.STATUS
    return update.finish()


def settings_changed(chat: Chat, settings: RenderSettings, now: int) -> Changes:
    """Store how the chat is shown; the requests that wait may look different now."""
    update = Update(chat, chat.root, now)
    chat.settings = settings
    for block in chat.waiting:
        update.request_changed(block)
        update.redraw(block, with_body=True)
    update.dirty |= Dirty.PENDING
    return update.finish()


def server_changed(chat: Chat, state: str, now: int) -> Changes:
    """Store the state of the agent's process; its task list ends with it."""
    update = Update(chat, chat.root, now)
    if chat.server != state:
        chat.server, chat.server_ms = state, now
    if state != "ready":
        task_list.drop_task_list(update)
        call_steps.stop_left(update)
        chat_state.doubt_title(chat)
    update.dirty |= Dirty.STATUS
    return update.finish()
