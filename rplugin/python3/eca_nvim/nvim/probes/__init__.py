"""Probes: a handshake with each server, all at once, for `:checkhealth eca`.

Neovim starts `python -m eca_nvim.nvim.probes` and draws its rows (`lua/eca/health/init.lua`).
"""
