"""Certificates of an authority of the test, and an API that speaks TLS on loopback."""

from __future__ import annotations

import os
import shutil
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import trustme
import uvicorn

from headwater.certificate import ServerCertificate
from headwater.cli.serve import listening
from headwater.server import create_app
from headwater.settings import Settings

NAMES = ("localhost", "127.0.0.1")


class Authority:
    """An authority with its file, which issues certificates into a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.own = trustme.CA()
        self.file = folder / "ca.pem"
        self.own.cert_pem.write_to_path(str(self.file))

    def issue(
        self, name: str, not_after: datetime | None = None, names: tuple[str, ...] = NAMES
    ) -> tuple[Path, Path]:
        """Write a certificate for loopback and its key; each replaces its file at once."""
        issued = self.own.issue_cert(*names, common_name=name, not_after=not_after)
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        for file, content in ((certificate, chain), (key, issued.private_key_pem.bytes())):
            written = file.with_suffix(".new")
            written.write_bytes(content)
            os.replace(written, file)
        return certificate, key

    def client(self, certificate: tuple[Path, Path] | None = None) -> httpx.Client:
        """Return a client that trusts this authority, with a certificate of its own or without."""
        context = ssl.create_default_context(cafile=self.file)
        if certificate is not None:
            context.load_cert_chain(*certificate)
        return httpx.Client(verify=context, trust_env=False, timeout=60)


def replace_with(source: tuple[Path, Path], target: tuple[Path, Path]) -> None:
    """Copy the files of a certificate over those of another."""
    for old, new in zip(source, target, strict=True):
        shutil.copy(old, new)


@contextmanager
def tls_api(settings: Settings) -> Iterator[tuple[str, ServerCertificate]]:
    """Run the API of the settings in a thread; yield its address and its certificate."""
    client_ca = Path(settings.tls_client_ca) if settings.tls_client_ca else None
    certificate = ServerCertificate(Path(settings.tls_cert), Path(settings.tls_key), client_ca)
    options = {**listening(settings, certificate), "port": 0, "log_level": "critical"}
    server = uvicorn.Server(uvicorn.Config(create_app(settings, certificate), **options))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"https://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", certificate
    finally:
        server.should_exit = True
        thread.join()


def day(year: int) -> datetime:
    """Return the first day of a year."""
    return datetime(year, 1, 1, tzinfo=UTC)
