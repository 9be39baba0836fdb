"""How Headwater itself fares: probes for orchestrators, metrics for Prometheus."""
