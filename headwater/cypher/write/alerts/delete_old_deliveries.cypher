// Delete the deliveries from before an instant. Those that wait and the newest ones of firing
// alerts stay.
// access: write
// params: $before DATETIME
// returns: nothing
// example: run by `headwater detect`
MATCH (d:Delivery)
WHERE d.createdAt < $before AND d.state <> 'waiting'
  AND (d.isNewest IS NULL OR d.status = 'resolved')
DETACH DELETE d
