"""Sensors, an operator and a trigger for Airflow 3, which ask a Headwater API over HTTP."""
