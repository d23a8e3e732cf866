"""A dataset as one file: ``pack`` writes an archive, ``unpack`` makes a dataset of it.

``members`` reads the members of an archive, none of which is trusted.
"""
