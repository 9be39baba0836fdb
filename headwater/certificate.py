"""The certificate of the API: TLS contexts for its connections, which follow the files.

Every handshake looks at the files, and takes their new content if they changed. Files that cannot
be used, or hold an expired certificate, leave the last good certificate in use. Open connections
keep the certificate they have.
"""

from __future__ import annotations

import logging
import ssl
import threading
from datetime import UTC, datetime
from pathlib import Path

from headwater.errors import SettingsError

_log = logging.getLogger(__name__)


class ServerCertificate:
    """A certificate with its key, and optionally the authority of client certificates.

    With `client_ca` a client may send a certificate, which must be of that authority. Raises
    SettingsError if the files cannot be used.
    """

    def __init__(self, certificate: Path, key: Path, client_ca: Path | None = None) -> None:
        self._certificate = certificate
        self._key = key
        self._client_ca = client_ca
        self._turn = threading.Lock()
        self._state = _state_of(self._files)
        self._current, self.expires = self._load()
        self.failed_reloads = 0
        # Each handshake begins with this context and continues with the current one.
        self.context = self._current
        self.context.sni_callback = self._choose

    def reload(self) -> None:
        """Take the content of the files if they changed and can be used."""
        with self._turn:
            state = _state_of(self._files)
            if state == self._state:
                return
            self._state = state
            try:
                context, expires = self._load()
                if days_left(expires) < 0 <= days_left(self.expires):
                    raise SettingsError(f"{self._certificate} expired at {expires.isoformat()}")
                self._current, self.expires = context, expires
                _log.info("certificate_loaded expires=%s", self.expires.isoformat())
            except SettingsError as error:
                self.failed_reloads += 1
                _log.error("certificate_kept reason=%r", error.message)

    @property
    def _files(self) -> list[Path]:
        return [file for file in (self._certificate, self._key, self._client_ca) if file]

    def _load(self) -> tuple[ssl.SSLContext, datetime]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            # An empty password: an encrypted key must not make the server ask for one.
            context.load_cert_chain(self._certificate, self._key, password="")
            if self._client_ca is not None:
                context.load_verify_locations(self._client_ca)
                context.verify_mode = ssl.CERT_OPTIONAL
                # A resumed session would keep the certificate of an authority that was replaced.
                # Python switches resumption off for TLS 1.3 only.
                context.minimum_version = ssl.TLSVersion.TLSv1_3
                context.num_tickets = 0
            return context, expiry_of(self._certificate)
        except (OSError, ValueError) as error:
            files = ", ".join(map(str, self._files))
            raise SettingsError(
                f"the files of TLS cannot be used ({files}): {error}",
                hint="They must be PEM, the key without a password, and the key that of the "
                "certificate.",
            ) from error

    def _choose(self, connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        self.reload()
        connection.context = self._current


def expiry_of(certificate: Path) -> datetime:
    """Return when the first certificate of a PEM file expires, in UTC.

    Raises OSError, and ValueError if the file holds no certificate.
    """
    from cryptography import x509

    return x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc


def days_left(expires: datetime) -> float:
    """Return the days until an instant, below 0 after it."""
    return (expires - datetime.now(UTC)).total_seconds() / 86_400


def context_of_own_server(certificate: Path) -> ssl.SSLContext:
    """Return a context for a client on the machine of the server.

    It trusts the certificate of the file alone, under any name: the client calls 127.0.0.1.
    """
    context = ssl.create_default_context(cafile=certificate)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _state_of(files: list[Path]) -> list[tuple[int, int, int] | None]:
    """Return the time, size and inode of each file; None for a missing one."""
    states: list[tuple[int, int, int] | None] = []
    for file in files:
        try:
            found = file.stat()
            states.append((found.st_mtime_ns, found.st_size, found.st_ino))
        except OSError:
            states.append(None)
    return states
