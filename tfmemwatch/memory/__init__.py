"""What the process holds and whose it is: allocators, mappings, weights, accounts, limits, forecast, remedies.

May import heap and seams, and what is below.
"""
