-- The keys and the hosts of accounts. With them a commit is verified without a request to a directory.

CREATE TABLE skua.identities (
  fetched_at   timestamptz NOT NULL,
  operation_at timestamptz,
  did          text        NOT NULL PRIMARY KEY,
  signing_key  text,
  pds          text,
  handle       text,
  label_key    text,
  created_at   timestamptz
);
COMMENT ON TABLE skua.identities IS 'The identities of accounts, from their DID documents or from an export of the PLC directory. Skua fetches an identity again if it is older than a day and skua.plc_cursor does not keep it current, or if a check with it fails.';
COMMENT ON COLUMN skua.identities.fetched_at IS 'The time at which the document was fetched, or the export was imported.';
COMMENT ON COLUMN skua.identities.operation_at IS 'The time of the newest operation in the imported export; null: the row is from a document.';
COMMENT ON COLUMN skua.identities.did IS 'The DID of the account.';
COMMENT ON COLUMN skua.identities.signing_key IS 'The public key of the account''s commits, as a multikey (z...); null: the account has none, such as a labeler without a repository, or the DID is deactivated.';
COMMENT ON COLUMN skua.identities.pds IS 'The host of the account, such as https://pds.example; null: it has none.';
COMMENT ON COLUMN skua.identities.handle IS 'The claimed handle, which is not verified; null: none.';
COMMENT ON COLUMN skua.identities.label_key IS 'The public key of the account''s labels, as a multikey (z...); null: the account has none, or the row was written before Skua stored this key.';
COMMENT ON COLUMN skua.identities.created_at IS 'The time of the first operation of the DID; null: no import has had it.';

-- `skua run --plc-tail` continues here.
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
