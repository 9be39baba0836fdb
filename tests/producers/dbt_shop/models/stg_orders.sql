{{ config(materialized="view") }}
select order_id, customer_id, cast(ordered_on as date) as ordered_on
from {{ ref("raw_orders") }}
