"""The readers that the vendor formats share.

Along the data:

- ``inputs`` and ``archives``: the files that a source names, opened
  as plain bytes within its budget.
- ``sniffing`` and ``text``: what kind of file it is, and how its rows are written.
- ``delimited``, ``jsonlines``, ``parquet`` and ``mmdb_file``: rows.
  ``typed_columns`` finds columns in Parquet and JSON.
- ``products`` and ``plans``: what the columns of a file mean; ``product_files``: files with a
  header. ``cells``, ``dictionary_columns`` and ``keyed_tables``: the values of cells.
- ``stated_dates``: the date of the data that a file states.
- ``reader``: the interface to the compiler.

The blocks of lines and records, and JSON lines, are parsed by ``geolookup.files``.
"""
