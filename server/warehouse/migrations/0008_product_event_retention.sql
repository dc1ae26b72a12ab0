-- Product events are kept for a year: who came back after a season is a question about them, and they are few. What is stored says itself when it
-- goes, so nothing has to be rewritten but what is there already. 0001_telemetry.sql explains the placeholders.

ALTER TABLE {{alter "product_events"}} MODIFY TTL toDateTime(Timestamp) + INTERVAL {{retention product_events 365}} DAY
;
