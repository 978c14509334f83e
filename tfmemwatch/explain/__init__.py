"""Why it came about and what to write instead: signatures, reasons, rewrites, advice, known issues, lines of source.

May import heap and seams, and what is below.
"""
