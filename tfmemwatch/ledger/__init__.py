"""What has happened and what lives, counted by kind and line of the program.

May import growth, catalog, config and safety, and what is below.
"""
