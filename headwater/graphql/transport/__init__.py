"""GraphQL over HTTP and WebSocket."""
