-- The blocks of records whose JSON in the database is not exact.

ALTER TABLE bsky.records ADD COLUMN block bytea;
COMMENT ON COLUMN bsky.records.block IS 'The block of the record (DAG-CBOR), if `record` does not have its exact content: NUL characters, floating point numbers, or a form that is not canonical. Null: the JSON encodes to the CID.';
