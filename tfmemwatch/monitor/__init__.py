"""The watch of a process and the watch of a block: the parts put together, when they look, and what they answer.

May import evidence, and what is below.
"""
