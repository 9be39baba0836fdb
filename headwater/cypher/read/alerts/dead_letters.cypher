// Return the deliveries that were given up, newest first.
// access: read
// params: $limit INTEGER = 200
// returns: properties
// example: headwater alerts dead
MATCH (d:Delivery)
WHERE d.state = 'dead' AND d.receiver IS NOT NULL AND d.nextAt IS NOT NULL
WITH d ORDER BY d.endedAt DESC, d.urn LIMIT $limit
RETURN d {.urn, .receiver, .dedupKey, .status, .tier, .title, .createdAt, .endedAt, .attempts,
          .error} AS properties
