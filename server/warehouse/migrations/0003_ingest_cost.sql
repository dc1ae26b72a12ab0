-- Settings that make a row cheaper to store; docs/performance.md has the figures. Rows that are there are rewritten by merges only.
-- 0001_telemetry.sql explains the placeholders; {{alter}} names the table that holds the rows.

-- Bodies hold many words that occur once: their postings take less room packed, and merges less time.
ALTER TABLE {{alter "logs"}} MODIFY SETTING text_index_posting_list_codec = 'bitpacking'
;
