// Count the deliveries by receiver and state, by a scan of the index of their states.
// access: read
// params: none
// returns: receiver, state, count
// example: headwater cypher read/alerts/delivery_counts
MATCH (d:Delivery)
WHERE d.state IN ['waiting', 'delivered', 'withheld', 'dead'] AND d.receiver IS NOT NULL
  AND d.nextAt IS NOT NULL
RETURN d.receiver AS receiver, d.state AS state, count(*) AS count
ORDER BY receiver, state
