"""Place: which file, and which line of it, is meant by a place in a block.

It is known from the calls, never read from what is drawn.
"""

from collections.abc import Iterator, Mapping

from eca_nvim.chat.model.blocks import Block, GroupBlock, ToolBlock
from eca_nvim.chat.model.calls import changed_places, is_safe_path, moved
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.render.block import body, header
from eca_nvim.chat.render.title import file_name
from eca_nvim.chat.vocabulary.call_details import Location
from eca_nvim.chat.vocabulary.states import CallState


def place_at(
    block: Block | None, settings: RenderSettings, row: int | None, column: int
) -> Location | None:
    """Return the file meant at a body row (0-based; None: the header) and a byte column."""
    match block:
        case ToolBlock():
            calls = [block]
        case GroupBlock(members=members):
            calls = members
        case _:
            return None
    known: dict[str, int | None] = {}
    for path, line in (place for call in calls for place in _places(call)):
        if is_safe_path(path):
            known.setdefault(path, line)
    if row is None:
        return _in_header(block, settings, known, column)
    for at, path, before, after in body(block, settings).places:
        if at == row and path in known:
            # A line of a diff is that of the file as it is: before the change, or once it is made.
            return Location(path, (after if _is_made(block) else before) or known[path])
    return None


def _is_made(block: Block) -> bool:
    return isinstance(block, ToolBlock) and block.state is CallState.DONE


def _places(block: ToolBlock) -> Iterator[tuple[str, int | None]]:
    """Yield the places that a call works on: first what it changes, and where it moves a file."""
    made = _is_made(block)
    for change in block.call.changes or ():
        for line, _ in changed_places(change, done=made):
            yield change.path, line if change.placed else None
    locations = block.call.locations or ()
    for it in reversed(locations) if made and moved(block.call) else locations:
        yield it.path, it.line


def _in_header(
    block: Block, settings: RenderSettings, known: Mapping[str, int | None], column: int
) -> Location | None:
    """Return the file whose name is at a byte column, else that of the call."""
    text = "".join(piece for piece, _ in header(block, settings, 0))
    at = len(text.encode()[:column].decode(errors="ignore"))
    names = {path: file_name(path, settings) for path in known}
    starts = {path: text.find(name) for path, name in names.items()}
    on = [it for it, start in starts.items() if 0 <= start <= at < start + len(names[it])]
    if not on and known and (len(known) == 1 or isinstance(block, ToolBlock)):
        on = [next(iter(known))]
    path = max(on, key=lambda it: len(names[it]), default=None)
    return None if path is None else Location(path, known[path])
