"""Review: what tools did to files, kept so that it can be looked at and taken back.

snapshots.py           a file at one moment, byte for byte
text_changes.py        two texts compared, and where a change is now
tracked_calls.py       calls that change files, and what was seen of these
before_change.py       a file before a change, from what the change left
earlier_states.py      files before the calls of a turn, from what these left
turn_changes.py        what a turn changed
workspace.py           which files there are
survey.py              what is in all of them
survey_differences.py  what became of them between two surveys
changed_by_others.py   what somebody else than a command changed
attribution.py         what commands changed, turn by turn
ledger.py              which turn changed which file, from what to what
change_list.py         all changes of a chat, for the user to keep or revert
undo.py                a turn taken back
files_used.py          which files were read and changed

Rule: nothing is changed that was not planned and shown first.
"""
