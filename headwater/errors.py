"""Every error that Headwater raises on purpose.

    HeadwaterError            an error that a user can correct; its `hint` is the correction
    ├── SettingsError         a setting is unknown, malformed or unsafe; nothing starts
    ├── JavaError             no usable Java on this machine
    ├── JarError              Neo4j's jars are missing, or differ from the lock file
    ├── HomeInUseError        another process holds this home directory
    ├── ServerError           a local server did not start or stop
    │   └── DamagedDataError  a local server cannot read its own data
    ├── EventError            a body is no OpenLineage event; `field` is the path
    ├── SpoolFullError        the spool cannot store events now (disk full, sync failed, queue full)
    ├── QueryError            an unknown query, a wrong parameter, or refused Cypher
    │   └── AmbiguousError    several nodes have the given name
    ├── UnauthorizedError     a missing or invalid API key
    ├── ForbiddenError        a key without the scope or the namespaces
    ├── NotFoundError         the graph has no such node
    └── UnavailableError      Neo4j or the API did not answer within its deadline
        ├── TimedOutError     Neo4j answers, and ended a transaction that took too long
        └── NewerVersionError a newer Headwater wrote the graph or the spool

`exit_code` is the exit status of the CLI, `status` that of the HTTP response.
"""

from __future__ import annotations

from typing import Self


class HeadwaterError(Exception):
    """Base of every error that a user may see. `hint` is an imperative sentence, or empty."""

    exit_code = 1
    status = 400

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SettingsError(HeadwaterError):
    exit_code = 2


class JavaError(HeadwaterError):
    exit_code = 3


class JarError(HeadwaterError):
    exit_code = 3


class HomeInUseError(HeadwaterError):
    exit_code = 3


class ServerError(HeadwaterError):
    exit_code = 3


class DamagedDataError(ServerError):
    """A local server cannot read its own data, and a further attempt fails in the same way."""


class EventError(HeadwaterError):
    """A refused event. `field` is a path, for example `run.runId`; `status` is 400 for no JSON."""

    exit_code = 4
    status = 422

    def __init__(self, message: str, *, field: str = "", status: int = 422, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field
        self.status = status


class SpoolFullError(HeadwaterError):
    exit_code = 5
    status = 503


class QueryError(HeadwaterError):
    exit_code = 2


class AmbiguousError(QueryError):
    exit_code = 7
    status = 409


class NotFoundError(HeadwaterError):
    exit_code = 6
    status = 404


class UnauthorizedError(HeadwaterError):
    status = 401


class ForbiddenError(HeadwaterError):
    status = 403


class UnavailableError(HeadwaterError):
    exit_code = 5
    status = 503


class TimedOutError(UnavailableError):
    pass


class NewerVersionError(UnavailableError):
    """A newer Headwater wrote what is read."""

    @classmethod
    def of_file(cls, name: str, version: int, known: int) -> Self:
        """Return the error of a file of this version; the program reads those up to `known`."""
        return cls(
            f"a newer Headwater wrote the {name} (version {version}, this one reads up to {known})",
            hint="Install that version again, or a newer one.",
        )
