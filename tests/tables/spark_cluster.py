"""One Spark session of a run; the other Spark tests share it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.skips import needs, optional
from tests.tables.watching import Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
else:
    SparkSession = optional("pyspark.sql").SparkSession
SparkContext = optional("pyspark").SparkContext

needs_spark = [
    needs("pyspark"),
    pytest.mark.skipif(shutil.which("java") is None, reason="no java"),
    # It says so whatever is done with pandas; nothing is, here.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
]


@contextmanager
def running(folder: Path, master: str) -> Iterator[tuple[SparkSession, Watch]]:
    """Yield a session; executors share the cache of this process."""
    watch = Watch.made(folder / "watch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEOLOOKUP_CACHE", str(folder / "cache"))
        patch.setenv("SPARK_HOME", str(_home(folder / "home")))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = _session(folder, master, watch)
        yield session, watch
        session.stop()
        _stop_java()


def _home(folder: Path) -> Path:
    """Return a folder with Spark's files; executors of such a cluster work below Spark itself."""
    folder.mkdir()
    for part in Path(sys.modules["pyspark"].__path__[0]).iterdir():
        if part.name != "work":
            (folder / part.name).symlink_to(part)
    return folder


def _session(folder: Path, master: str, watch: Watch) -> SparkSession:
    wanted: dict[str, Any] = {
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "700",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "Asia/Kathmandu",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **{f"spark.executorEnv.{name}": value for name, value in watch.environment.items()},
    }
    return SparkSession.builder.master(master).config(map=wanted).getOrCreate()


def _stop_java() -> None:
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)
    SparkContext._gateway = SparkContext._jvm = None
