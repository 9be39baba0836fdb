{{ config(materialized="table") }}
select order_id, refunded as amount
from {{ ref("stg_payments") }}
