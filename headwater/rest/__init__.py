"""The REST API: assets, lineage tables, and the read paths of Marquez and Atlas."""
