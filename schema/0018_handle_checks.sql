-- A handle is a claim until it was seen to lead back to the account. What an account claims is kept
-- beside what it has, so that a name that was taken by a false claim comes back.

ALTER TABLE bsky.actors ADD COLUMN handle_check_due timestamptz;
ALTER TABLE bsky.actors ADD COLUMN handle_valid boolean;
ALTER TABLE bsky.actors ADD COLUMN handle_claim text;
UPDATE bsky.actors SET handle_claim = handle, handle_check_due = handle_time WHERE handle IS NOT NULL;
-- What waits for its check is a small part, and is asked for by time.
CREATE INDEX actors_handle_check_due ON bsky.actors (handle_check_due) WHERE handle_check_due IS NOT NULL;
COMMENT ON COLUMN bsky.actors.handle_time IS 'The time of the event that brought the claim.';
COMMENT ON COLUMN bsky.actors.handle_check_due IS 'When the claim is to be looked up; null: it was, or there is none.';
COMMENT ON COLUMN bsky.actors.handle_valid IS 'Whether the claim was seen to lead back to the account, by DNS or by the host of that name; null: not looked up yet.';
COMMENT ON COLUMN bsky.actors.handle_claim IS 'The handle that its DID document claims, or that its host announced last.';
COMMENT ON COLUMN bsky.actors.handle IS 'The handle that the account has: its claim, unless that was seen to lead elsewhere, or nowhere, or another account claimed it later and this one was not seen to be right. No two accounts have the same.';

CREATE OR REPLACE VIEW bsky.actors_view AS
SELECT a.did,
       a.handle,
       p.display_name,
       p.description,
       p.avatar_cid,
       a.active,
       a.status,
       a.status_time,
       p.created_at,
       a.indexed_at,
       a.id,
       a.handle_valid
FROM bsky.actors a
LEFT JOIN bsky.profiles p
  ON p.actor_id = a.id AND p.rkey = bsky.rkey_number('self') AND a.active IS NOT FALSE;
COMMENT ON COLUMN bsky.actors_view.handle IS 'The handle that it has: the one that its DID document claims, unless it was seen to lead elsewhere, or another account has taken it.';
COMMENT ON COLUMN bsky.actors_view.handle_valid IS 'Whether its claim to a handle was seen to lead back to it; null: not looked up yet.';
