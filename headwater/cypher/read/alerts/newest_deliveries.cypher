// Return the newest delivery to each receiver of these alerts.
// access: read
// params: $keys LIST<STRING>
// returns: receiver, dedupKey, number, status, tier, createdAt, findings
// example: run by `headwater detect`
MATCH (d:Delivery)
WHERE d.dedupKey IN $keys AND d.isNewest = true
RETURN d.receiver AS receiver, d.dedupKey AS dedupKey, d.number AS number, d.status AS status,
       d.tier AS tier, d.createdAt AS createdAt, d.findings AS findings
