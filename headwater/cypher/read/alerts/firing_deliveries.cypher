// Return the newest delivery to each receiver of each alert that is not resolved.
// access: read
// params: none
// returns: receiver, dedupKey, number, status, tier, createdAt, findings
// example: run by `headwater detect`
MATCH (d:Delivery {isNewest: true, status: 'firing'})
RETURN d.receiver AS receiver, d.dedupKey AS dedupKey, d.number AS number, d.status AS status,
       d.tier AS tier, d.createdAt AS createdAt, d.findings AS findings
