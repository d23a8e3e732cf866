"""The sections of ``--against``: what has changed since an older dataset."""
