"""Mirrors: a static folder of a store's archives, and its signed index.

``folder`` writes one, with ``archive_files``. ``source`` fetches its files for an update. Both
sides share ``index`` and the ``rules`` of followers.
"""
