"""Table files: every format read and written as a stream of record batches.

``byte_streams`` opens files and compression, a module for each format turns
bytes into ``row_streams`` and back, ``formats`` is their registry, and
``table_files`` reads rows or addresses of any of them. ``enrich`` adds answers
to files, ``summarize`` counts their addresses.
"""
