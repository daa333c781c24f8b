"""How fast the plugin is, compared with the least that Neovim could do: `python -m bench`.

What is compared
    *ours*   the plugin as users have it: Python host, Markdown colours, conceal, scrolling.
    *floor*  `lua/floor.lua`: plain Lua in Neovim that parses the bytes of the same server and
             appends to a scratch buffer, once per read, without colours, in a window of the same
             size: the text of the messages, and one line for each tool call.
    Both get the same bytes from a server in another process (`server.py`), which prepares all of
    them before it sends the first, and both have a user interface attached whose user types ten
    keys per second into another window.

How
    Each run starts a Neovim; runs of ours and of the floor alternate. Figures are medians over the
    runs of one Neovim version; ratios are of medians. Clocks are CLOCK_MONOTONIC, which all
    processes share. The exit status does not depend on the figures: the program fails only if
    something could not be measured.

Figures
    loaded buffers      ours with 300 loaded files, compared with ours with one: a ratio of at
                        most 1.1 counts as no difference.
    time to last text   from the first byte of the turn that the server writes, to the flush with
                        which the user interface gets the text of the last chunk.
    CPU                 utime + stime of Neovim and of the host from /proc, without the fake
                        server, up to half a second after the last text.
    stall               the largest gap between two calls of a 1 ms timer inside Neovim
                        (`lua/probe.lua`), minus the time in which Neovim waited for a processor
                        (`gap` includes that). A loop that never stalls shows 1 ms. It is off
                        while CPU is measured.
    key to screen       from writing a key to Neovim's pipe to the flush that has its character;
                        p99 over all keys of all runs of a version.
    completion          after an `@` in the input, in a workspace of 100,000 files: from each key to
                        the cursor behind it, and from the `@` to a menu. Its floor has a list of
                        the paths in Neovim and searches it by `matchfuzzy()` (`completion.py`).
    inline              key to the cursor behind it while code is typed in a file, with inline
                        completion on, compared with off: what is drawn costs nothing that is
                        felt (`inline.py`).
    prompting           from sending a prompt to the server that has read it, in a workspace of
                        20,000 files, with checkpoints compared with without; and what more memory
                        the host takes at the most (`prompting.py`).
    flood               a command of an agent prints 50 MB in a chat. Its floor is Neovim's own
                        `:terminal` with the same command (`flood.py`).
    prompt ready        from `:EcaChat` to the moment at which a prompt would be sent at once. The
                        server is ready at once, or after 60 ms, which are subtracted. The floor
                        is a remote plugin with one function in a host that Neovim starts itself:
                        from the first call to the answer. Neovim's caches are empty.
"""
