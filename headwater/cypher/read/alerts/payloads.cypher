// Return the alerts of these deliveries as JSON.
// access: read
// params: $urns LIST<STRING>
// returns: urn, payload
// example: run by `headwater detect`
MATCH (d:Delivery)
WHERE d.urn IN $urns
RETURN d.urn AS urn, d.payload AS payload
