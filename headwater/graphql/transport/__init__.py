"""How GraphQL requests arrive: HTTP for queries and mutations, WebSocket for subscriptions."""
