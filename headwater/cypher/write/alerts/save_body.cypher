// Save the body of a delivery before its first attempt, so that each attempt sends the same.
// access: write
// params: $urn STRING, $body STRING
// returns: body
// example: run by `headwater detect`
MATCH (d:Delivery {urn: $urn})
SET d.body = coalesce(d.body, $body)
RETURN d.body AS body
