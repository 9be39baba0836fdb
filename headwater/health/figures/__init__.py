"""The figures of dashboards: definitions, values of the graph as it is, and daily snapshots."""
