"""How the program is left unharmed: turns instead of locks, descriptors, forks, threads, errors of our own.

May import errors, html, model and units.
"""
