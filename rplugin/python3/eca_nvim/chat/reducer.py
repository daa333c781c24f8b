"""Reducer: what an event of the agent, or the passing of time, does to a chat.

Rules kept here:
- Pure: no I/O, no clock. `now` is in ms; the chat changes in place, what must be shown and told
  is returned.
- One row an event in HANDLERS; a test holds the table complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eca_nvim.chat import (
    events,
    extras,
    naming,
    plan,
    questions,
    silence,
    speech,
    tool_calls,
    trust,
    turn,
)
from eca_nvim.chat.blocks import ToolBlock
from eca_nvim.chat.effects import Changes
from eca_nvim.chat.model import Chat
from eca_nvim.chat.states import CallState, Turn
from eca_nvim.chat.update import Dirty, Update

HANDLERS: Mapping[type[events.ChatEvent], Callable[[Update, Any], None]] = {
    events.TextReceived: speech.text_received,
    events.ReasoningStarted: speech.reasoning_started,
    events.ReasoningText: speech.reasoning_text,
    events.ReasoningFinished: speech.reasoning_finished,
    events.NoticeReceived: speech.notice_received,
    events.InsteadWanted: speech.instead_wanted,
    events.ToolPreparing: tool_calls.preparing,
    events.ToolRequested: tool_calls.requested,
    events.ToolRunning: tool_calls.running,
    events.ToolFinished: tool_calls.finished,
    events.ToolRejected: tool_calls.rejected,
    events.HookStarted: extras.hook_started,
    events.HookFinished: extras.hook_finished,
    events.LinkReceived: extras.link_received,
    events.ImageReceived: extras.image_received,
    events.FlagReceived: extras.flag_received,
    events.UnknownReceived: extras.unknown_received,
    events.TitleChanged: naming.title_changed,
    events.ProgressChanged: extras.progress_changed,
    events.UsageReported: extras.usage_reported,
    events.SelectionChanged: extras.selection_changed,
    events.TrustRefused: trust.trust_refused,
    events.ChatOpened: naming.chat_opened,
    events.ChatCleared: extras.chat_cleared,
    events.QuestionAsked: questions.asked,
    events.TurnChanged: turn.turn_changed,
    events.TurnLapsed: silence.lapsed,
    events.PromptAnswered: turn.prompt_answered,
    events.ChatDeleted: turn.chat_deleted,
    events.AgentGone: turn.agent_gone,
}


def apply(
    chat: Chat, event: events.ChatEvent, now: int, child: str | None = None, *, later: bool = False
) -> Changes:
    """Take an event; `child` is the chat id of the subagent it is of, None for the chat itself.

    later: more events follow at once; headers are drawn when they are all taken (`settled`).
    """
    update = Update(chat, chat.lane(child), now, later=later)
    if not isinstance(event, events.TurnLapsed):
        chat.turn.heard(now)
    HANDLERS[type(event)](update, event)
    return update.finish()


def settled(chat: Chat, now: int) -> Changes:
    """Draw the headers that waited for the last of many events."""
    return Update(chat, chat.root, now).finish()


def tick(chat: Chat, now: int) -> Changes:
    """Let times pass: elapsed time of the turn, and of calls that run. Nothing when idle."""
    update = Update(chat, chat.root, now)
    if chat.turn.state is not Turn.IDLE:
        update.dirty |= Dirty.STATUS
        silence.ask_when_silent(update)
    for block, lane in chat.live.values():
        if isinstance(block, ToolBlock) and block.state is CallState.RUNNING:
            update.redraw(block, lane)
    return update.finish()


def server_changed(chat: Chat, state: str, now: int) -> Changes:
    """Take the state of the agent's process; what it planned ends with it."""
    update = Update(chat, chat.root, now)
    chat.server = state
    if state != "ready":
        plan.drop_plan(update)
        naming.doubt(chat)
    update.dirty |= Dirty.STATUS
    return update.finish()
