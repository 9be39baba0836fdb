{{ config(materialized="view") }}
select payment_id, order_id, cast(amount as decimal(10, 2)) as amount, refunded
from {{ source("till", "payments") }}
