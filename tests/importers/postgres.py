"""A real PostgreSQL on loopback with Marquez' table of events.

PostgreSQL refuses to run as root; then it runs as the user nobody.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pg8000.native import Connection

# The table after all migrations of Marquez 0.51.
SCHEMA = """
CREATE TABLE lineage_events (
  event_time timestamp with time zone,
  event jsonb,
  event_type text,
  job_name text,
  job_namespace text,
  producer text,
  run_uuid uuid,
  created_at timestamp with time zone DEFAULT (now() AT TIME ZONE 'UTC')::timestamptz,
  _event_type varchar(64) DEFAULT 'RUN_EVENT'
)
"""
START_SECONDS_MAX = 120


def binaries() -> Path | None:
    """Return the folder of PostgreSQL's programs, the newest version of Debian's; None without."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@contextmanager
def running() -> Iterator[int]:
    """Start a new PostgreSQL with the users marquez and stranger; yield its port."""
    programs = binaries()
    assert programs is not None, "install postgresql"
    with tempfile.TemporaryDirectory(prefix="postgres-", dir="/tmp") as folder:
        user = "nobody" if os.getuid() == 0 else None
        if user:
            shutil.chown(folder, user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        data = f"{folder}/data"
        options: dict[str, Any] = {
            "cwd": folder,
            "user": user,
            "check": True,
            "capture_output": True,
        }
        initdb: list[Any] = [
            programs / "initdb",
            "-D",
            data,
            "-U",
            "marquez",
            "--auth=trust",
            "--no-sync",
        ]
        subprocess.run(initdb, **options)
        with open(f"{data}/pg_hba.conf", "w") as file:
            file.write("host all secured 127.0.0.1/32 scram-sha-256\n")
            file.write("host all all 127.0.0.1/32 trust\n")
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c fsync=off"
        control: list[Any] = [programs / "pg_ctl", "-D", data, "-w", "-t", str(START_SECONDS_MAX)]
        log = ["-l", f"{folder}/log"]
        subprocess.run([*control, *log, "-o", settings, "start"], **options)
        try:
            with closing_connection(port, "postgres") as connection:
                connection.run("CREATE DATABASE marquez")
                connection.run("CREATE USER stranger")
                connection.run("CREATE USER secured PASSWORD 'secret'")
            with closing_connection(port) as connection:
                connection.run(SCHEMA)
            yield port
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **options)


@contextmanager
def closing_connection(port: int, database: str = "marquez") -> Iterator[Connection]:
    connection = Connection("marquez", host="127.0.0.1", port=port, database=database)
    try:
        yield connection
    finally:
        connection.close()


def insert(port: int, events: list[tuple[str | None, Any]]) -> None:
    """Insert events (their times, and their JSON texts) as Marquez does."""
    with closing_connection(port) as connection:
        connection.run("BEGIN")
        for time, text in events:
            connection.run(
                "INSERT INTO lineage_events (event_time, event) "
                "VALUES (CAST(:time AS timestamptz), CAST(:event AS jsonb))",
                time=time,
                event=text,
            )
        connection.run("COMMIT")
