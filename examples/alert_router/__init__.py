"""Asks analysts in their chat, by links they click, and passes their answers on to svddtune."""
