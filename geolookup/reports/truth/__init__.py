"""The section of ``--truth``: how far a dataset agrees with ground truth."""
