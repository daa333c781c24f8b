"""Review: what tools did to files, kept so that it can be looked at and taken back.

snapshots.py  a file at one moment, byte for byte
changes.py    two texts compared, and where a change is now
steps.py      calls that change files, and what was seen of these
prior.py      a file before a change, from what the change left
workspace.py  which files there are
survey.py     what is in all of them
watch.py      what calls changed without saying so
tracing.py    files before the calls of a turn, from what these left
records.py    what a turn changed
ledger.py     which turn changed which file, from what to what
listing.py    all changes of a chat, for the user to keep or revert
undoing.py    a turn taken back
"""
