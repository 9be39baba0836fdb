// Return when the first messages about alerts of the tier P3 were written after an instant.
// Messages that show the receiver nothing do not count.
// access: read
// params: $since DATETIME
// returns: receiver, createdAt
// example: run by `headwater detect`
MATCH (d:Delivery)
WHERE d.createdAt > $since AND d.tier = 'P3' AND d.status = 'firing' AND d.state <> 'withheld'
OPTIONAL MATCH (before:Delivery {urn: d.previous})
WITH d, before
WHERE before IS NULL OR before.status <> 'firing'
RETURN d.receiver AS receiver, d.createdAt AS createdAt
