"""Internal names of `geolookup/http` that tests use."""

from geolookup.http import admin_port, application
from geolookup.http.admin_port import PLAIN, AdminPort, Page
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
from geolookup.http.application import ip_parameter
from geolookup.http.cors import Origins
from geolookup.http.heartbeats import LATE, SILENT, STARTING, Heartbeats, Watchdog
from geolookup.http.listener import limit
from geolookup.http.metrics import BOUNDS, Counters, exposition, readings
from geolookup.http.own import OwnLookups
from geolookup.http.settings import HEAD_LIMIT, HEAD_TIMEOUT
