"""The readers that the vendor formats share.

Along the data:

- ``inputs`` and ``archives``: the files that a source names, as plain bytes within its budget.
- ``sniffing`` and ``text``: what kind of file it is, and how its rows are written.
- ``delimited``, ``jsonlines``, ``parquet``, ``arrow_tables`` and ``mmdb_file``: rows.
- ``typed_columns`` and ``dictionary_columns``: columns, and the values of cells.
- ``products``, ``plans`` and ``product_files``: what the columns of a file mean.
- ``reader``: the interface to the compiler, with the date of the data.
"""
