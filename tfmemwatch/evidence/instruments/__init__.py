"""Instruments: each reads one thing while an inquiry lasts, says what it costs, and decides nothing."""
