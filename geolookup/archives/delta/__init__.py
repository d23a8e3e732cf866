"""What changed in the files of a dataset: ``changed`` makes a patch of each, ``applied`` reads it.

A patch is a sequence of arrays (``streams``). It states no sizes: the manifests of the base and of
the new dataset describe the columns, and patch and file are walked in their order::

    patch     = alignment column* column       the last column: the bytes between all columns
    alignment = positions positions            rows of the base deleted; rows of the file inserted
    column    = numbers | texts                as the manifest says
    numbers   = 0 values                       the values themselves
              | 1 sparse values                the kept rows with another value; the inserted rows
              | 2 sparse values                where the growth of kept rows changes, and by what;
                                               the inserted rows, less the kept one before each
    texts     = positions lengths bytes        kept rows that differ; these and the inserted texts
    sparse    = positions values
    positions = values                         gaps: 3, 4 and 9 are 3, 0 and 4

An example: the base has the rows 10, 20, 30, 40, and the file 10, 15, 21, 31, 41. Row 1 of the
file is inserted, none is deleted: positions [], [1]. The kept rows have grown by 0, 1, 1, 1.
Way 2 writes that as the position 1 and the value 1, then 5 for the inserted row: 15 = 10 + 5.

The patch mode of zstd, which aligns no rows, takes four to seven times as many bytes
(``docs/benchmarks.md``).

A patch is not trusted: its arrays are bounded by what the manifests describe before memory is taken
for them. The caller checks the digest of the result.
"""
