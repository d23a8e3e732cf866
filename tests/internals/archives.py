"""Internal names of `geolookup/archives` that tests use."""

from geolookup.archives import head
from geolookup.archives.delta import apply_patch, file_patches, largest_patch
from geolookup.archives.delta.streams import PatchError, encode_numbers
from geolookup.archives.head import Header, open_archive, parsed_header
from geolookup.archives.members import MANIFEST_SUM, sum_line
from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
