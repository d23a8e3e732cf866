"""A dataset as one file: ``pack`` writes an archive, ``unpack`` makes a dataset of it.

An archive has the whole dataset, or is a delta: patches of the files that differ from those of a
base. ``head`` reads what an archive begins with, ``extract`` what follows; neither is trusted.
"""
