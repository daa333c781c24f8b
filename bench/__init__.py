"""How fast the plugin is, against the least that a Neovim could do: `python -m bench`.

What is compared
    *ours*   the plugin as users have it: Python host, Markdown colours, conceal, following its end.
    *floor*  `lua/floor.lua`: plain Lua in Neovim that parses the same server's bytes and appends
             the text to a scratch buffer, without colours, in a window of the same size. Where
             text is streamed, it appends that of each message. Where tool calls, a replay or one
             large message come at once, it appends the text that ours shows, once a read.
    Both get the same bytes from a server in a process of its own (`server.py`), which has them all
    ready before the first goes out, and both have a user interface attached whose user types ten
    keys a second into another window.

How
    Each run is a Neovim of its own; runs of ours and of the floor alternate. Figures are medians
    over the runs of one Neovim version; ratios are of medians. Clocks are CLOCK_MONOTONIC, which
    all processes share. The program tells and never judges by its exit status: it fails only when
    something could not be measured.

Figures
    loaded buffers      ours beside 300 loaded files, against ours beside one: no difference is a
                        ratio of at most 1.1.
    time to last text   from the first byte of the turn that the server writes, to the flush in
                        which the user interface receives the last chunk's text.
    CPU                 utime + stime of Neovim and of the host from /proc, the fake server's not
                        counted, half a second after the last text included.
    stall               the largest gap between two calls of a 1 ms timer inside Neovim
                        (`lua/probe.lua`), less the time in which Neovim waited for a processor
                        (`gap` is with it). A loop that never stalls shows 1 ms. Never on while CPU
                        is measured.
    key to screen       from handing a key to Neovim's pipe to the flush that contains its
                        character; p99 over all keys of all runs of a version.
    prompt ready        from `:EcaChat` to the moment at which a prompt would go to the server at
                        once. The server is up at once, or after 60 ms, which are taken off. The
                        floor is a remote plugin of one function in a host that Neovim starts by
                        itself: from the first call to the answer.
"""
