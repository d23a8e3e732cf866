"""A dataset as one file: ``pack`` writes an archive, ``unpack`` makes a dataset of it.

``head`` reads the first members of an archive, ``unpack`` the files; neither trusts it.
"""
