"""Review: what tools did to files, kept so that it can be looked at and taken back.

snapshots.py    a file at one moment, byte for byte
changes.py      two texts compared, and where a change is now
steps.py        calls that change files, and what was seen of these
prior.py        a file before a change, from what the change left
tracing.py      files before the calls of a turn, from what these left
records.py      what a turn changed
workspace.py    which files there are
survey.py       what is in all of them
differences.py  what became of them between two surveys
others.py       what somebody else than a command changed
watch.py        what commands changed, turn by turn
ledger.py       which turn changed which file, from what to what
listing.py      all changes of a chat, for the user to keep or revert
undoing.py      a turn taken back
used.py         which files were read and changed
"""
