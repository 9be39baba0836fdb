"""The GraphQL types."""
