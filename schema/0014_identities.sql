-- Who signs for an account, and where it lives, so that commits can be checked without asking its
-- directory each time.

CREATE TABLE skua.identities (
  fetched_at   timestamptz NOT NULL,
  operation_at timestamptz,
  did          text        NOT NULL PRIMARY KEY,
  signing_key  text,
  pds          text,
  handle       text
);
COMMENT ON TABLE skua.identities IS 'Identities of accounts as their DID documents, or an export of the PLC directory, gave them. A copy: asked anew when it is a day old or does not fit.';
COMMENT ON COLUMN skua.identities.fetched_at IS 'When the document was fetched, or the export imported.';
COMMENT ON COLUMN skua.identities.operation_at IS 'When the operation was made that an import found newest; null: the row comes from a document.';
COMMENT ON COLUMN skua.identities.did IS 'The account.';
COMMENT ON COLUMN skua.identities.signing_key IS 'The public key that its commits are signed with, as a multikey (z...); null: it has none, or the DID was given up.';
COMMENT ON COLUMN skua.identities.pds IS 'Its host, such as https://pds.example; null: it has none.';
COMMENT ON COLUMN skua.identities.handle IS 'The handle that it claims, not checked; null: none.';
