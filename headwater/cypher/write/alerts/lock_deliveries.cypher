// Lock the deliveries to a receiver that are due: of each alert the first that waits, and the
// most urgent alerts first. The caller leases them next, in the same transaction, because another
// process may have leased them before the lock. A pause or a lease that ends after its latest
// possible end was taken by a clock that was ahead: it counts as ended.
// access: write
// params: $receiver STRING, $instant DATETIME, $lastPauseEnd DATETIME, $lastLeaseEnd DATETIME,
//   $lease STRING, $limit INTEGER
// returns: urn
// example: run by `headwater detect`
MATCH (d:Delivery {state: 'waiting', receiver: $receiver})
WHERE d.nextAt IS NOT NULL
  AND NOT $instant < d.nextAt <= $lastPauseEnd
  AND (d.leasedUntil IS NULL OR NOT $instant < d.leasedUntil <= $lastLeaseEnd)
  AND NOT EXISTS {
    MATCH (e:Delivery {dedupKey: d.dedupKey})
    WHERE e.receiver = $receiver AND e.state = 'waiting' AND e.number < d.number
  }
WITH d ORDER BY d.tier, d.urn LIMIT $limit
SET d.lockedBy = $lease
RETURN d.urn AS urn
