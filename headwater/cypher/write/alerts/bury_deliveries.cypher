// Give up the deliveries that have waited since before an instant for a receiver that the settings
// no longer name.
// access: write
// params: $receivers LIST<STRING>, $before DATETIME, $instant DATETIME
// returns: nothing
// example: run by `headwater detect`
MATCH (d:Delivery {state: 'waiting'})
WHERE d.receiver IS NOT NULL AND d.nextAt IS NOT NULL
  AND NOT d.receiver IN $receivers AND d.queuedAt < $before
SET d.state = 'dead', d.endedAt = $instant,
    d.error = 'the settings name no receiver ' + d.receiver
