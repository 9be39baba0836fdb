// Return the newest delivery of each alert to each receiver, newest first. With $resolved false,
// only of alerts that fire.
// access: read
// params: $resolved BOOLEAN = true, $limit INTEGER = 200
// returns: properties
// example: headwater alerts list
MATCH (d:Delivery)
WHERE d.isNewest = true AND d.status IN ['firing', 'resolved']
  AND ($resolved OR d.status = 'firing')
WITH d ORDER BY d.createdAt DESC, d.urn LIMIT $limit
RETURN d {.urn, .receiver, .dedupKey, .status, .tier, .title, .createdAt, .state, .attempts,
          .error} AS properties
