"""Messages about calls in any order: what is asked is shown until it is answered, and ends."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.agents.acp.wire import NO, YES, Wired, shows

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.vocabulary.requests import ChoiceKind
from eca_nvim.chat.vocabulary.states import ENDED_CALLS, CallState, Turn

IDS = st.sampled_from(["a", "b"])
STATUSES = st.sampled_from([None, "pending", "in_progress", "completed", "failed"])
DIFF = {"type": "diff", "path": "/workspace/x", "oldText": "1", "newText": "2"}
CONTENTS = st.sampled_from([None, [], [shows("text")], [DIFF], [shows("more"), DIFF]])
INPUTS = st.sampled_from([None, {}, {"command": "ls"}, {"command": "rm x"}, "text"])
KINDS = st.sampled_from([None, "execute", "edit", "read", "other"])


class AnyOrder(RuleBasedStateMachine):
    """An agent that says anything about two calls at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.wired = Wired()
        self.open: dict[str, str] = {}  # requests by the calls of our chat
        self.refused: set[str] = set()

    @rule(
        announces=st.booleans(), call=IDS, status=STATUSES, kind=KINDS, content=CONTENTS, raw=INPUTS
    )
    def update(
        self,
        announces: bool,
        call: str,
        status: str | None,
        kind: str | None,
        content: object,
        raw: object,
    ) -> None:
        send = self.wired.call if announces else self.wired.changes
        send(call, status=status, kind=kind, content=content, rawInput=raw, title="a title")

    @rule(call=IDS, raw=INPUTS, content=CONTENTS)
    def ask(self, call: str, raw: object, content: object) -> None:
        request = self.wired.asks(YES, NO, call=call, rawInput=raw, content=content)
        self.open[self.wired.known().id] = request

    @rule(call=IDS, allows=st.booleans())
    def answer(self, call: str, allows: bool) -> None:
        for item in self.wired.driver.items:
            ours = str(item["call"])
            if ours.startswith(call):
                request = self.open.pop(ours)
                self.wired.answer(request, "y" if allows else "n", ours)
                self.refused |= set() if allows else {ours}
                return

    @rule(call=IDS)
    def withdraw(self, call: str) -> None:
        for ours in [it for it in self.open if it.startswith(call)]:
            self.wired.withdraw(self.open.pop(ours))

    @rule()
    def turn(self) -> None:
        self.wired.end()
        self.open.clear()
        assert self.wired.driver.chat.turn.state is Turn.IDLE
        assert all(block.state in ENDED_CALLS for block in self.blocks)
        self.wired.begin("again")

    @property
    def blocks(self) -> list[ToolBlock]:
        blocks = self.wired.driver.chat.blocks.values()
        return [block for block in blocks if isinstance(block, ToolBlock)]

    @invariant()
    def what_is_asked_is_shown(self) -> None:
        shown = {str(item["call"]) for item in self.wired.driver.items}
        ended = {block.call.id for block in self.blocks if block.state in ENDED_CALLS}
        assert {call for call in self.open if call not in ended} == shown

    @invariant()
    def each_call_is_one_block(self) -> None:
        ids = [block.call.id for block in self.blocks]
        assert len(ids) == len(set(ids))

    @invariant()
    def what_was_refused_does_not_run(self) -> None:
        for block in self.blocks:
            assert block.call.id not in self.refused or block.state is not CallState.RUNNING

    @invariant()
    def each_request_can_be_rejected(self) -> None:
        for block in self.blocks:
            if block.state is CallState.WAITING:
                assert ChoiceKind.REJECT_ONCE in {choice.kind for choice in block.choices}


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=100, stateful_step_count=25, deadline=None)
