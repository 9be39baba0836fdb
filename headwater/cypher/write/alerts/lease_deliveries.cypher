// Lease locked deliveries until an instant, and count the attempt. A delivery that was queued by a
// clock that was ahead counts as queued now.
// access: write
// params: $urns LIST<STRING>, $instant DATETIME, $lastLeaseEnd DATETIME, $until DATETIME,
//   $lease STRING
// returns: urn, dedupKey, number, status, attempts, queuedAt, payload, body, previous
// example: run by `headwater detect`
MATCH (d:Delivery)
WHERE d.urn IN $urns AND d.state = 'waiting'
  AND (d.leasedUntil IS NULL OR NOT $instant < d.leasedUntil <= $lastLeaseEnd)
SET d.leasedUntil = $until, d.lease = $lease, d.attempts = d.attempts + 1,
    d.queuedAt = CASE WHEN d.queuedAt > $instant THEN $instant ELSE d.queuedAt END
RETURN d.urn AS urn, d.dedupKey AS dedupKey, d.number AS number, d.status AS status,
       d.attempts AS attempts, d.queuedAt AS queuedAt, d.payload AS payload, d.body AS body,
       d.previous AS previous
ORDER BY d.tier, d.createdAt, urn
