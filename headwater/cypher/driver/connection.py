"""TLS between Headwater and Neo4j, and the errors of the driver as Headwater's."""

from __future__ import annotations

import ssl
from typing import Any

from headwater.cypher.driver.neo4j_import import neo4j
from headwater.errors import QueryError, SettingsError, TimedOutError, UnavailableError

AuthError = neo4j.exceptions.AuthError
ClientError = neo4j.exceptions.ClientError
DatabaseError = neo4j.exceptions.DatabaseError
DriverError = neo4j.exceptions.DriverError
Neo4jError = neo4j.exceptions.Neo4jError
TransientError = neo4j.exceptions.TransientError


def encryption_of(uri: str, ca: str) -> tuple[str, dict[str, Any]]:
    """Return an address and the options of the driver that trust an authority.

    The driver takes an authority for a scheme without `+s` only. Raises SettingsError if the file
    cannot be used.
    """
    if not ca:
        return uri, {}
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise SettingsError(
            f"HEADWATER_NEO4J_CA: {ca} cannot be used: {error}",
            hint="Name a PEM file with the certificate of the authority.",
        ) from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    scheme, separator, rest = uri.partition("://")
    return f"{scheme.removesuffix('+s')}{separator}{rest}", {"ssl_context": context}


def certificate_problem(error: BaseException | None) -> str | None:
    """Return why a certificate was refused, if that is the cause of an error; else None."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message
        error = error.__cause__ or error.__context__
    return None


def translated(error: DriverError | Neo4jError) -> UnavailableError | QueryError:
    """Return an error of the driver as one of Headwater's."""
    # After three wrong passwords Neo4j refuses the right one as well, for five seconds.
    if isinstance(error, AuthError) or (
        isinstance(error, Neo4jError) and "AuthenticationRateLimit" in (error.code or "")
    ):
        return UnavailableError(
            "Neo4j refused the user name or password",
            hint="Set HEADWATER_NEO4J_USER and HEADWATER_NEO4J_PASSWORD.",
        )
    if (reason := certificate_problem(error)) is not None:
        return UnavailableError(
            f"the certificate of Neo4j is not trusted: {reason}",
            hint="Name the file of its certificate authority in HEADWATER_NEO4J_CA, and call Neo4j "
            "by a name in its certificate.",
        )
    if isinstance(error, DriverError):
        return UnavailableError(
            f"Neo4j does not answer: {error}",
            hint="Start it with `headwater up`, or name a running one with HEADWATER_NEO4J_URI.",
        )
    if "DatabaseNotFound" in (error.code or ""):
        return UnavailableError(
            f"Neo4j has no such database: {error.message}",
            hint="Set HEADWATER_NEO4J_DATABASE to one that `SHOW DATABASES` lists.",
        )
    if "ReadOnlyAccessDatabase" in (error.code or ""):
        return UnavailableError(
            f"Neo4j is read-only: {error.message}",
            hint="Start Neo4j without `--read-only` or its setting `server.databases.read_only`.",
        )
    if "OutOfMemory" in (error.code or ""):
        # Neo4j calls this transient, but a retry would fail in the same way.
        return QueryError(f"the query needs too much memory ({error.code}): {error.message}")
    if "TransactionTimedOut" in (error.code or ""):
        return TimedOutError(f"the time was up ({error.code}): {error.message}")
    if isinstance(error, TransientError | DatabaseError) or "Transaction" in (error.code or ""):
        return UnavailableError(f"Neo4j could not do it now ({error.code}): {error.message}")
    assert isinstance(error, ClientError | Neo4jError)
    return QueryError(f"Neo4j refused the query ({error.code}): {error.message}")
