-- How far the stored identities follow the export of the PLC directory, so that `skua run --plc-tail` continues there.

CREATE TABLE skua.plc_cursor (
  is_only    boolean     PRIMARY KEY DEFAULT true CHECK (is_only),
  since      timestamptz,
  newest     timestamptz NOT NULL,
  cids       text[]      NOT NULL DEFAULT '{}',
  current_at timestamptz NOT NULL
);
COMMENT ON TABLE skua.plc_cursor IS 'At most one row: the part of the PLC directory''s export that skua.identities contains. `skua identity import` and `skua run --plc-tail` write it.';
COMMENT ON COLUMN skua.plc_cursor.is_only IS 'Always true, so that there is at most one row.';
COMMENT ON COLUMN skua.plc_cursor.since IS 'All operations after this time, up to `newest`, were applied; null: all since the first operation.';
COMMENT ON COLUMN skua.plc_cursor.newest IS 'The time of the newest operation that was applied, by the clock of the directory.';
COMMENT ON COLUMN skua.plc_cursor.cids IS 'The CIDs of the applied operations of the last second before `newest`, so that none is applied twice.';
COMMENT ON COLUMN skua.plc_cursor.current_at IS 'The time up to which the identities are current: that of the last request which found no further operation, or `newest` while there are more.';

COMMENT ON TABLE skua.identities IS 'The identities of accounts, from their DID documents or from an export of the PLC directory. Skua fetches an identity again if it is older than a day and skua.plc_cursor does not keep it current, or if a check with it fails.';

INSERT INTO skua.reader_tables VALUES ('plc_cursor');
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'skua_reader') THEN
    PERFORM skua.grant_reader();
  END IF;
END
$$;
