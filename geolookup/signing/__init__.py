"""Signatures: the makers of datasets, and the keys that are trusted.

``keys`` are files of Ed25519 keys, ``envelope`` signs any document, ``statement`` is the document
beside a dataset, and ``trust`` decides whether a dataset is accepted.
"""
