"""Table files: every format read and written as a stream of record batches.

``byte_streams`` opens files and compression, ``text_blocks`` cuts texts into blocks, and
``column_text`` joins columns to lines. A module for each kind of format turns bytes into
``row_streams`` and back: ``delimited``, ``lines``, ``json_lines``, ``logs``, ``parquet``.
``table_files`` is the registry of formats, and reads rows or addresses of files. ``enrich`` adds
answers to files, ``summarize`` counts their addresses. The compiler reads its sources by
``text_blocks``, ``lines``, ``json_lines`` and ``column_text``.
"""
