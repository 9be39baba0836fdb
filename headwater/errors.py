"""Every error Headwater raises on purpose.

    HeadwaterError            something a user can fix; carries `hint`, what to do about it
    ├── SettingsError         a setting is unknown, malformed or unsafe: nothing starts
    ├── JavaError             no usable Java on this machine
    ├── JarError              Neo4j's jars are missing, or are not the ones the lock file names
    ├── HomeInUseError        another process holds this home directory
    ├── ServerError           a local server did not start or stop as it should
    ├── EventError            what was sent is not an OpenLineage event; names the field
    ├── SpoolFullError        the spool cannot take events now (disk full, sync failed, queue full)
    ├── QueryError            an unknown query, a wrong parameter, or Cypher that was refused
    ├── UnauthorizedError     no key where one is needed, or one that is not valid
    ├── ForbiddenError        a key that is not for this
    ├── NotFoundError         what was asked for is not in the graph
    └── UnavailableError      Neo4j or the API did not answer within its deadline

`exit_code` is what the command line ends with; `status` is what HTTP answers.
"""

from __future__ import annotations


class HeadwaterError(Exception):
    """Base of every error a user may see. `hint` says how to put it right."""

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


class EventError(HeadwaterError):
    """`field` is the path of what is wrong, for example `run.runId`; `status` 400 when it is not JSON."""

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
