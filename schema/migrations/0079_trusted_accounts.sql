-- Some labels and verifications count only if the operator trusts their author.

CREATE TABLE skua.trusted_accounts (
  role text NOT NULL CHECK (role IN ('labeler', 'verifier')),
  did  text NOT NULL CHECK (did LIKE 'did:%'),
  PRIMARY KEY (role, did)
);
COMMENT ON TABLE skua.trusted_accounts IS 'The accounts whose labels hide records from a viewer, and whose verifications count. The operator adds and removes rows. Which labels are indexed does not depend on it.';
COMMENT ON COLUMN skua.trusted_accounts.role IS 'labeler: the labels !takedown, !suspend and !hide of the account apply (bsky.has_hiding_label). verifier: its verifications count (bsky.verifications_view.is_trusted).';
COMMENT ON COLUMN skua.trusted_accounts.did IS 'The DID of the account.';
INSERT INTO skua.trusted_accounts (role, did) VALUES
  -- moderation.bsky.app and bsky.app
  ('labeler', 'did:plc:ar7c4by46qjdydhdevvrndac'), ('verifier', 'did:plc:z72i7hdynmk6r22z27h6tvur');
