"""A rule of a user's own, to which a test adds the keys that it is about."""

OWN_RULE = """
code = "ACME001"
name = "own-rule"
family = "own"
summary = "An own rule"
why = "Because."
fix = "So."
severity = "warning"
applicability = "manual"
confidence = "documented"
sources = [{ text = "here", checked = "2026-11-30" }]
"""
