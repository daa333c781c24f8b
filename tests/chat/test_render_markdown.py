"""The whole chat as Markdown."""

from __future__ import annotations

import pytest
from tests.chat.driver import ENDED, Driver, call, said, system

from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.vocabulary.call_details import FileChange
from eca_nvim.chat.vocabulary.events import ReasoningText, TitleChanged, ToolFinished


def test_everything_is_in_it_collapsed_or_not() -> None:
    driver = Driver()
    driver.hear(TitleChanged("Fix it"))
    driver.run("fix `it`")
    driver.hear(ReasoningText("r", "hm"), *said("Sure:\n", "- done"))
    change = FileChange("/workspace/a", "@@ -1 +1 @@\n-a\n+b", 1, 1)
    driver.hear(ToolFinished(call("e", "edit_file", details=change), ("Replaced.",), total_ms=300))
    driver.hear(system("careful\nplease"), ENDED)
    assert (
        transcript(driver.chat, driver.now)
        == """# Fix it

## User

fix `it`

### thought

hm

## Assistant

Sure:
- done

### ✓ edit a +1 -1  0.3s

```diff
@@ -1,1 +1,1 @@
-a
+b
```

```
Replaced.
```

> careful
> please
"""
    )


def test_nothing_is_cut_and_fences_hold() -> None:
    driver = Driver()
    output = "\n".join(["```", *map(str, range(1000))])
    driver.hear(ToolFinished(call(), (output,)))
    text = transcript(driver.chat, 0)
    assert "\n999\n````\n" in text
    assert text.count("````") == 2


@pytest.mark.parametrize("output", ["one\ntwo\n", "\n\none\ntwo", "\x1b[31mone\x1b[0m\ntwo\n"])
def test_an_output_that_is_cleaned_to_be_shown_is_written_once(output: str) -> None:
    driver = Driver()
    driver.hear(ToolFinished(call(), (output,)))
    text = transcript(driver.chat, 0)
    assert text.count("one\ntwo") == 1
    assert "\x1b" not in text
