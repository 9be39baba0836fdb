"""Schemas of topics, from a registry with the REST API of Confluent."""
