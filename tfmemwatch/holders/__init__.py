"""Who holds a thing, by what name and way, which line fills it, and what should be dead.

May import reports, and what is below.
"""
