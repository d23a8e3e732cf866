"""Mirrors: a static folder of archives, and the stores that follow it.

``index`` is what both sides share: the signed list of the generations and their files.
``write`` makes the folder from a store: ``wanted`` says of what, ``acceptance`` whether followers
would take it, and ``archive_files`` keeps the archives.
"""
