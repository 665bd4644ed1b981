"""Definitions that a port writes into the user's file: one function or class a file, called like the file's stem.

They replace calls whose meaning takes more than an expression. A file begins with plain imports, which the port adds
to the user's imports, and goes on with the definition, which is copied as it stands.
"""
