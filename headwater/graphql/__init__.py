"""How dashboards ask: the GraphQL schema, its thin resolvers, and the page to try it on.

Every resolver hands its question to `headwater.cypher` in a thread and shapes the answer; nothing here knows Cypher.
"""
