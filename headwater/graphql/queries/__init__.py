"""The query fields of the schema, by subject."""
