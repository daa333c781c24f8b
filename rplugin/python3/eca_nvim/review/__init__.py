"""Review: records what tools did to files, so that it can be shown and undone.

snapshots.py           a file at one moment, byte for byte
text_changes.py        two texts compared, and where a change is in a third
tracked_calls.py       calls that change files, and how the files looked meanwhile
before_change.py       a file before a call's change, computed from its diff and the result
earlier_states.py      files before each call of a turn, computed backwards from the end
turn_changes.py        what a turn changed, file by file
workspace.py           which files a workspace has
survey.py              the content of all of them at one moment
survey_differences.py  what changed between two surveys
changed_by_others.py   changes between surveys that no tracked call made
attribution.py         changes between surveys, attributed to turns
ledger.py              all turns with their changes
change_list.py         the changes of a chat as a list, to keep or revert
undo.py                undoing turns
undo_words.py          how a planned undo reads
files_used.py          which files were read and changed

Rule: no file is changed without a plan that was shown first.
"""
