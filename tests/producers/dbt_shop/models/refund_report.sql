{{ config(materialized="table") }}
select sum(amount) as refunded, count(*) as payments
from {{ ref("refunds") }}
