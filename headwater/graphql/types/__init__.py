"""The types of the GraphQL schema, and the helpers of their resolvers."""
