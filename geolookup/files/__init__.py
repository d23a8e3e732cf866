"""Files of tables: each format read and written as a stream of record batches.

One module per format, registered by name in ``formats``; ``enriching`` takes
one file to another, ``folder`` a tree of them, ``summary`` counts one.
"""
