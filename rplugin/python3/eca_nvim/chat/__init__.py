"""The chat: the model of a conversation, independent of agent and editor.

Each package may import those above it in this list:

vocabulary/    events (agent → chat), intents (editor → session), effects (chat → agent),
               ops (chat → view); the states of a turn and of a tool call
text/          text made safe to draw, colours, bodies, diffs
model/         a chat and its blocks, and what is derived from them
render/        the header and the body of each kind of block
update.py      collects the changes of one event or action, and renders them once
handlers/      one handler for each event of the agent; `reducer.apply` finds it
user_actions/  one function for each action of the user

Rule: pure. Events and intents in, changes out; no I/O, no clock (the caller passes times, in ms).
"""
