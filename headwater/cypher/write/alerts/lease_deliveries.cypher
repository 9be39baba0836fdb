// Lease locked deliveries until an instant, and count the attempt.
// access: write
// params: $urns LIST<STRING>, $instant DATETIME, $until DATETIME, $lease STRING
// returns: urn, dedupKey, number, status, attempts, queuedAt, payload, body, previous
// example: run by `headwater detect`
MATCH (d:Delivery)
WHERE d.urn IN $urns AND d.state = 'waiting'
  AND (d.leasedUntil IS NULL OR d.leasedUntil <= $instant)
SET d.leasedUntil = $until, d.lease = $lease, d.attempts = d.attempts + 1
RETURN d.urn AS urn, d.dedupKey AS dedupKey, d.number AS number, d.status AS status,
       d.attempts AS attempts, d.queuedAt AS queuedAt, d.payload AS payload, d.body AS body,
       d.previous AS previous
ORDER BY d.tier, d.createdAt, urn
