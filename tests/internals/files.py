"""Internal names of `geolookup/files` that tests use."""

from geolookup.files import text_blocks
from geolookup.files.byte_streams import explain_errors, open_output
from geolookup.files.column_text import cell_texts, joined_cells, json_texts
from geolookup.files.enrich import Counts, FileOptions, enrich_file
from geolookup.files.logs import SHAPES
from geolookup.files.row_streams import ReadOptions
from geolookup.files.summarize import KINDS, Summary, count_files
from geolookup.files.table_files import AddressColumn, TimeColumn, open_table, table_file
from geolookup.files.text_blocks import LONGEST_RECORD, TextError
from geolookup.files.timestamps import unix_seconds
from geolookup.files.traffic import HOSTING, STATUSES, Traffic
