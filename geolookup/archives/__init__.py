"""A dataset as one file: ``pack`` writes an archive, ``unpack`` makes a dataset of it.

``head`` reads the first members of an archive, ``extract`` the files; neither trusts it.
"""
