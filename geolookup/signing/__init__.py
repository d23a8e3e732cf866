"""Signatures: who made a dataset, and which keys are trusted.

``keys`` are files of Ed25519 keys, ``envelope`` signs any document, ``statement`` is the document
beside a dataset, and ``trust`` decides whether a dataset is accepted.
"""
