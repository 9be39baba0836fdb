// One node for each message to a receiver: the outbox of alerts.
// access: schema
// params: none
// returns: nothing
// example: applied by the worker at start
CREATE CONSTRAINT delivery_urn IF NOT EXISTS FOR (n:Delivery) REQUIRE n.urn IS UNIQUE;
CREATE INDEX delivery_key IF NOT EXISTS FOR (n:Delivery) ON (n.dedupKey);
CREATE INDEX delivery_newest IF NOT EXISTS FOR (n:Delivery) ON (n.isNewest, n.status);
CREATE INDEX delivery_state IF NOT EXISTS FOR (n:Delivery) ON (n.state, n.receiver, n.nextAt);
CREATE INDEX delivery_created_at IF NOT EXISTS FOR (n:Delivery) ON (n.createdAt);
