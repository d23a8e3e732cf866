"""Mirrors: a static folder of archives, and the stores that follow it.

``index`` is what both sides share: the signed list of the generations and their files.
"""
