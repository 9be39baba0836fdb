"""Metrics of the certificate of the API."""

from __future__ import annotations

from pathlib import Path

from headwater.certificate import ServerCertificate
from headwater.health.tls import CertificateMetrics
from tests.tls_servers import Authority, day


def test_the_end_of_the_certificate(tmp_path: Path) -> None:
    assert list(CertificateMetrics(None).collect()) == []
    files = Authority(tmp_path / "authority").issue("server", day(2030))
    expiry, failures = CertificateMetrics(ServerCertificate(*files)).collect()
    assert expiry.samples[0].value == day(2030).timestamp()
    assert failures.samples[0].value == 0
