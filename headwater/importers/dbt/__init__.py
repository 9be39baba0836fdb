"""The artifacts of dbt as OpenLineage events."""
