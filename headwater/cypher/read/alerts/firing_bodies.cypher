// Return the bodies of the alerts that fire at a receiver.
// access: read
// params: $receiver STRING
// returns: body
// example: run by `headwater detect`
MATCH (d:Delivery {isNewest: true, status: 'firing'})
WHERE d.receiver = $receiver AND d.state = 'delivered' AND d.body IS NOT NULL
RETURN d.body AS body
