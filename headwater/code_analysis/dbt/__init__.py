"""dbt: Jinja templates, the manifest and catalog, and schema files."""
