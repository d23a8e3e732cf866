"""Internal names of `geolookup/pictures` that tests use."""

from geolookup.pictures import charts, colours, wording
from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.address_space import UNKNOWN, Space, View, view_of
from geolookup.pictures.charts import Chart, bars
from geolookup.pictures.colours import SCALE
from geolookup.pictures.layers import NOTHING, layers_within, pixels, png
from geolookup.pictures.range_table import deflate, pack_numbers, pack_table, table_within
from geolookup.pictures.world import FILE as WORLD_FILE
from geolookup.pictures.world import Mark, Places, cells, class_bounds, class_labels, world
