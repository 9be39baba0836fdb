"""The GraphQL API: schema, resolvers, HTTP and WebSocket transport, and the GraphiQL page.

Resolvers run questions of `headwater.lineage` in threads and shape the answers.
"""
