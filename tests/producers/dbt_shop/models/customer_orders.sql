{{ config(materialized="table") }}
select c.customer_id, c.name, count(o.order_id) as orders, sum(p.amount) as spent
from {{ ref("raw_customers") }} as c
join {{ ref("stg_orders") }} as o on o.customer_id = c.customer_id
join {{ ref("stg_payments") }} as p on p.order_id = o.order_id
group by c.customer_id, c.name
