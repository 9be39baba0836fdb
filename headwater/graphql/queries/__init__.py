"""The root fields of GraphQL: thin resolvers, one module a subject."""
