// Return the body of the newest delivery of an alert to a receiver, before a number, that was sent.
// access: read
// params: $receiver STRING, $dedupKey STRING, $number INTEGER
// returns: body
// example: run by `headwater detect`
MATCH (d:Delivery {dedupKey: $dedupKey})
WHERE d.receiver = $receiver AND d.number < $number AND d.body IS NOT NULL
RETURN d.body AS body
ORDER BY d.number DESC
LIMIT 1
