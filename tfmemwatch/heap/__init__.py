"""Living Python objects and the variables of running functions, read without harm to the program.

May import ledger, and what is below.
"""
