"""The page: static files, and the GraphQL documents of everything that it shows."""
