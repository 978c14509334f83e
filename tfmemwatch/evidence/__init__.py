"""What grows where no count explains it: instruments read it, hypotheses decide what it is.

May import outputs, judge, probes and holders, and what is below.
"""
