"""Internal names of `geolookup/http` that tests use."""

from geolookup.http import admin, application
from geolookup.http.admin import Admin
from geolookup.http.answers import (
    ANSWERED,
    NO_SUCH_METHOD,
    NO_SUCH_PATH,
    OUTCOMES,
    PREFLIGHT,
    REFUSED,
    Answers,
    Outcome,
)
from geolookup.http.cors import Origins
from geolookup.http.own import lookup_json
from geolookup.http.requests import ip_parameter
from geolookup.http.settings import HEAD_LIMIT, Settings
from geolookup.http.shared import BOUNDS, Shared
from geolookup.http.watchdog import LATE, SILENT, Watchdog, notify
from tests.skips import optional

exposition = optional("geolookup.http.metrics").exposition
