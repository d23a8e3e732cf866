"""Mirrors: a static folder of archives, and the stores that follow it.

Both sides share ``index``: the signed list of the generations and their files. ``folder`` makes
the folder of a store, with ``listing`` (which generations) and ``archive_files``. ``follow`` polls
it: ``source`` fetches its files, ``install`` publishes them, in a process of ``child``.
``polling`` has the options, results and state.
"""
