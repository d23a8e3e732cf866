"""What changed in the files of a dataset: ``changed`` makes a patch of each, ``applied`` reads it.

Both know a dataset by its manifest. A patch is not trusted: its arrays are bounded by what the
manifests describe before memory is taken for them. The caller checks the digest of the result.
"""
