"""Internal names of `geolookup/dataset` that tests use."""

from geolookup.dataset import layout, manifest, metadata, rows, runs
from geolookup.dataset import public_ranges as public_ranges_module
from geolookup.dataset.arrow_files import describe, generation, read, starts_of
from geolookup.dataset.coverage import KnownAddresses, coverage_lines, known_addresses
from geolookup.dataset.digests import canonical
from geolookup.dataset.files import Dataset, Starts
from geolookup.dataset.intervals import (
    UNIT_ADDRESSES,
    Addresses,
    clamp,
    concat,
    count_addresses,
    cut_at,
    empty,
    is_partition,
    join_intervals,
    jump_table,
    lasts,
    sizes,
)
from geolookup.dataset.manifest import (
    Manifest,
    is_dataset,
    is_generation,
    manifest_text,
    read_manifest,
)
from geolookup.dataset.mapped import EncodedColumn, File
from geolookup.dataset.metadata import Source, data_age
from geolookup.dataset.networks import Network, limits_of, network_at, network_of
from geolookup.dataset.provenance import decisions, explain
from geolookup.dataset.public_ranges import public_ranges
from geolookup.dataset.runs import distinct, factorize, join_runs, run_starts
from geolookup.dataset.sizes import size_lines
