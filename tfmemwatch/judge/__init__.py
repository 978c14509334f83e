"""Counts that grow become findings: tracks, a table of stories, the judge, and which findings are open.

May import reports, and what is below.
"""
