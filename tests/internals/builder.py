"""Internal names of `builder/geolookup_builder` that tests use."""

from geolookup_builder import columns, compile, downloads, memory, output_files
from geolookup_builder import layers as layers_module
from geolookup_builder.build_report import KINDS, BuildReport, Demand, FillCount, SourceReport
from geolookup_builder.calls import build
from geolookup_builder.calls import check as calls_check
from geolookup_builder.check import RecipeCheck, SourceCheck, check_recipe
from geolookup_builder.columns import ROW, Columns, JoinedIntervals, Partition
from geolookup_builder.compile import (
    compile_recipe,
    dataset_content,
    sources_read,
)
from geolookup_builder.demands import check as demands_check
from geolookup_builder.demands import failures, read_quality
from geolookup_builder.downloads import read_through, with_local_paths
from geolookup_builder.enrichment import COLUMNS as REGION_COLUMNS
from geolookup_builder.enrichment import FILE as REGION_NAMES
from geolookup_builder.enrichment import Regions
from geolookup_builder.flatten import Rows, duplicates, flatten, may_decide_beyond
from geolookup_builder.gather import SourceRows
from geolookup_builder.layers import bands, hide, nothing, of_rows, underlay
from geolookup_builder.limits import Bound, Options
from geolookup_builder.limits import key as limit_key
from geolookup_builder.memory import MemoryBudget
from geolookup_builder.overlaid_sources import OverlaidSources
from geolookup_builder.ranges import REASONS, ParsedRanges, from_networks, from_pairs
from geolookup_builder.recipe import document, loading
from geolookup_builder.recipe.document import (
    MAX_SOURCES,
    PACKAGED,
    Recipe,
    SourceSpec,
    read_recipe,
)
from geolookup_builder.recipe.loading import load, recipe_of_call, slice_recipe
from geolookup_builder.recipe.names import COLUMNS as VENDOR_COLUMNS_COLUMNS
from geolookup_builder.recipe.names import offered_type, with_language
from geolookup_builder.recipe.table import Table
from geolookup_builder.reference import read_table
from geolookup_builder.reference.countries import COLUMNS as COUNTRIES_COLUMNS
from geolookup_builder.reference.countries import (
    Country,
    load_continents,
    load_countries,
)
from geolookup_builder.reference.country_boxes import country_boxes, far_places
from geolookup_builder.sources import FORMATS, auto
from geolookup_builder.sources.formats import cloud
from geolookup_builder.sources.formats.lists import RIR
from geolookup_builder.sources.reading import (
    delimited,
    jsonlines,
    parquet,
    typed_columns,
)
from geolookup_builder.sources.reading.delimited import find_rejects
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.reader import RecordNumbers, Reject, date_in
from geolookup_builder.sources.reading.text import Layout, mask_lines, unlimited_cells
from geolookup_builder.tables import json_texts, row_texts
from geolookup_builder.values import Reference, load_reference
from geolookup_builder.vocabulary import VOCABULARY
