"""The commands of `tfmemwatch`: one file each.

May import monitor, and what is below.
"""
