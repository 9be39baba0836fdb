// Queue deliveries that were given up again: those to a receiver, or all.
// access: write
// params: $receiver STRING, $instant DATETIME
// returns: count
// example: headwater alerts retry
MATCH (d:Delivery)
WHERE d.state = 'dead' AND d.receiver IS NOT NULL AND d.nextAt IS NOT NULL
  AND $receiver IN ['', d.receiver]
SET d.state = 'waiting', d.queuedAt = $instant, d.nextAt = $instant, d.attempts = 0
REMOVE d.error, d.endedAt
RETURN count(d) AS count
