"""The chat: what a conversation is, whichever agent speaks and whichever editor shows it.

Pure: events and intents in, changes out; no I/O, no clock (times are given, in ms).

events.py   what an agent said                       (agent  → chat)
intents.py  what the user did                        (editor → session)
effects.py  what the agent must be told; Changes     (chat   → session)
ops.py      what the view must draw                  (chat   → editor)

reducer.py  apply(chat, event), tick                 prompts.py, pending.py, questions.py,
                                                     folding.py: the user's side
turn.py, speech.py, tool_calls.py, extras.py         what events do; states.py has the tables
model.py, blocks.py                                  the aggregate
render*.py, status.py, markdown_export.py            how it reads; text.py makes it safe to draw
diffs.py                                             changes of files as hunks and as two files
"""
