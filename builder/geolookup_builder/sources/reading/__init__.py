"""What the vendor formats share.

Along the data:

- ``inputs`` and ``archives``: the files that a source names.
- ``recognition``, ``text`` and ``sniffing``: what they are, and how they are written.
- ``delimited``, ``jsonlines``, ``json_document``, ``parquet``, ``rpsl_objects`` and ``mmdb_file``:
  their rows. ``nested`` and ``typed_columns`` find columns in Parquet and JSON.
- ``dictionary_columns`` and ``lookup_tables``: what the cells mean.
- ``origins``, ``routes`` and ``equal_ranges``: which row decides over a prefix.
- ``reader``: what the compiler receives. ``positions`` and ``damage`` find the line of a row or an
  error. ``vendor_files`` groups files into tables.
"""
