"""Where TensorFlow and Keras keep things, by subject, and how one attribute is wrapped and put back.

May import ledger, and what is below.
"""
