"""The readers that the vendor formats share.

Along the data:

- ``inputs``, ``archives`` and ``data_files``: the files that a source names, opened
  as plain bytes within its budget.
- ``sniffing`` and ``text``: what kind of file it is, and how its rows are written.
- ``delimited``, ``jsonlines``, ``json_document``, ``parquet`` and ``mmdb_file``: rows.
  ``typed_columns`` finds columns in Parquet and JSON.
- ``dictionary_columns`` and ``vendor_files``: the meaning of cells, and of files.
- ``own_values``: the own columns that a recipe asks for.
- ``stated_dates``: the date of the data that a file states.
- ``reader``: the interface to the compiler. ``positions`` finds the lines of rows.

The blocks of lines and records, and JSON lines, are parsed by ``geolookup.files``.
"""
