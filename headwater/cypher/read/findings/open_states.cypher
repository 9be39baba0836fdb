// Return the open findings, the newest first, at most $limit of them.
// access: read
// params: $limit INTEGER = 10000
// returns: urn, subject, tier, namespaces
// example: subscription { findingChanges { change finding { id } } }
MATCH (f:Finding)
WHERE f.isOpen = true AND f.lastSeen IS NOT NULL
RETURN f.urn AS urn, f.subject AS subject, f.tier AS tier,
  coalesce(f.namespaces, []) AS namespaces
ORDER BY f.lastSeen DESC, f.urn
LIMIT $limit
