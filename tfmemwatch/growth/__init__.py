"""Values in, a verdict out: series, history, growth per call, and what became of memory.

May import errors, html, model and units.
"""
