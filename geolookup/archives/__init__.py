"""A dataset as one file: ``pack`` writes an archive, ``unpack`` makes a dataset of it.

An archive has the whole dataset, or is a delta: patches of the files that differ from a base.
``head`` reads the first members, ``extract`` the files; neither is trusted.
"""
