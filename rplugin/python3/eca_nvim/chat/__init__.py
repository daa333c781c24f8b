"""The chat: what a conversation is, whichever agent speaks and whichever editor shows it.

Each package may import those above it in this list:

vocabulary/    events (agent → chat), intents (editor → session), effects (chat → agent),
               ops (chat → view); what a turn and a tool call can be
text/          text made safe to draw, colours, bodies, diffs
model/         a chat and its blocks, and what is derived from them
render/        how blocks read
update.py      what one event or action changes, gathered and rendered once
handlers/      what an event of the agent does; `reducer.apply` finds the handler
user_actions/  what an intent of the user does

Rule: pure. Events and intents in, changes out; no I/O, no clock (times are given, in ms).
"""
