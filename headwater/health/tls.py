"""Metrics of the certificate of the API: when it expires, and new files that could not be used."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headwater.certificate import ServerCertificate


class CertificateMetrics(Collector):
    """The metrics of a certificate; none for a server without TLS."""

    def __init__(self, certificate: ServerCertificate | None) -> None:
        self._certificate = certificate

    def collect(self) -> Iterator[Metric]:
        if self._certificate is None:
            return
        self._certificate.reload()
        yield GaugeMetricFamily(
            "headwater_tls_certificate_expiry_seconds",
            "When the certificate of the API expires, in seconds since 1970.",
            self._certificate.expires.timestamp(),
        )
        yield CounterMetricFamily(
            "headwater_tls_reload_failures",
            "Changed files of TLS that could not be used; the last good certificate stays.",
            self._certificate.failed_reloads,
        )
