"""How fast the plugin is, compared with the least that Neovim could do: `python -m bench`.

What is compared
    *ours*   the plugin as users have it: Python host, Markdown colours, conceal, scrolling.
    *floor*  `lua/floor.lua`: plain Lua in Neovim that parses the bytes of the same server and
             appends to a scratch buffer, once per read, without colours, in a window of the same
             size: the text of the messages, and one line for each tool call. Rows that are about
             something else have a floor of their own, which their sentence names (`rows.py`).
    Both get the same bytes from a server in another process (`server.py`), which prepares all of
    them before it sends the first, and both have a user interface attached whose user types ten
    keys per second into another window.

How
    Each run starts a Neovim; runs of ours and of the floor alternate. Ratios are of medians over
    the runs of one Neovim version. Clocks are CLOCK_MONOTONIC, which all processes share. The exit
    status does not depend on the figures: the program fails only if something could not be
    measured.

Figures
    time of a text      from the first byte of the turn that the server writes, to the flush with
                        which the user interface gets the text of the last chunk.
    CPU                 utime + stime of Neovim and of the host from /proc, without the fake
                        server, up to half a second after the last text.
    stall               the largest gap between two calls of a 1 ms timer inside Neovim
                        (`lua/probe.lua`), minus the time in which Neovim waited for a processor. A
                        loop that never stalls shows 1 ms. It is off while CPU is measured.
    key to screen       from writing a key to Neovim's pipe to the flush that has its character,
                        over all keys of all runs of a version.
    completion          after an `@` in the input: from each key to the cursor behind it, and from
                        the `@` to a menu (`completion.py`).
    prompt              from sending a prompt to the server that has read it, and the most memory
                        that the host has taken (`prompting.py`).
    first prompt        from `:EcaChat` to the moment at which a prompt would be sent at once. The
                        server is ready at once, or after a while, which is subtracted; Neovim's
                        caches are empty (`opening.py`).
"""
