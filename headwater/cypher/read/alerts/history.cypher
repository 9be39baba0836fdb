// Return when alerts fired and were resolved, since an instant.
// access: read
// params: $since DATETIME
// returns: dedupKey, status, tier, createdAt, payload
// example: headwater alerts figures
MATCH (d:Delivery)
WHERE d.createdAt >= $since
RETURN d.dedupKey AS dedupKey, d.status AS status, d.tier AS tier, d.createdAt AS createdAt,
       CASE d.status WHEN 'resolved' THEN d.payload END AS payload
ORDER BY createdAt, d.urn
