// Return the times of events that were dated in the future when they were first received, the
// latest first, in microseconds since 1970.
// access: read
// params: $limit INTEGER
// returns: instant
// example: run by the worker
MATCH (n:Receipt)
WHERE n.eventTime > datetime('0001-01-01T00:00:00Z')
WITH n.eventTime AS eventTime ORDER BY eventTime DESC LIMIT $limit
RETURN eventTime.epochSeconds * 1000000 + eventTime.microsecond AS instant
