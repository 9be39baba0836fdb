// Count an attempt of the deliveries to receivers that the settings no longer name. Give up those
// that have waited since before an instant and have had so many attempts.
// access: write
// params: $receivers LIST<STRING>, $attempts INTEGER, $before DATETIME, $instant DATETIME
// returns: nothing
// example: run by `headwater detect`
MATCH (d:Delivery {state: 'waiting'})
WHERE d.receiver IS NOT NULL AND d.nextAt IS NOT NULL
  AND NOT d.receiver IN $receivers
SET d.attempts = d.attempts + 1
WITH d
WHERE d.queuedAt < $before AND d.attempts >= $attempts
SET d.state = 'dead', d.endedAt = $instant,
    d.error = 'the settings name no receiver ' + d.receiver
