// Record how an attempt to send a delivery ended: delivered, withheld, dead, or waiting for the
// next one. A delivery that arrived is delivered, also if another process holds its lease.
// access: write
// params: $urn STRING, $lease STRING, $state STRING, $error STRING, $instant DATETIME,
//   $nextAt DATETIME
// returns: nothing
// example: run by `headwater detect`
MATCH (d:Delivery {urn: $urn})
WHERE d.lease = $lease OR $state = 'delivered'
SET d.state = $state, d.error = nullIf($error, ''), d.nextAt = $nextAt,
    d.endedAt = CASE WHEN $state = 'waiting' THEN null ELSE $instant END
REMOVE d.lease, d.leasedUntil, d.lockedBy
