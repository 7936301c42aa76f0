-- Look-ups of handles are limited by account, and claims that were refused are looked up after all others.

ALTER TABLE bsky.actors ADD COLUMN handle_lookups_charged_to timestamptz;
COMMENT ON COLUMN bsky.actors.handle_lookups_charged_to IS 'Limits the look-ups of its handle: each one moves this time five minutes on, from now if it lies in the past. A look-up that moves it more than fifty minutes ahead of now waits.';
COMMENT ON COLUMN bsky.actors.handle_valid IS 'Whether the claim was seen to lead back to the account, by DNS or by the host of that name; null: not looked up yet. It stays while the same claim, made again, is looked up again.';
COMMENT ON COLUMN bsky.actors.handle IS 'The handle that the account has: its claim, unless a look-up found that it leads elsewhere or nowhere, or another account has the handle by a look-up, or claimed it later. No two accounts have the same.';

CREATE FUNCTION skua.charge_handle_lookup(charged_to timestamptz, at timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE
  RETURN least(greatest(coalesce(charged_to, at), at) + interval '5 minutes', at + interval '55 minutes');
COMMENT ON FUNCTION skua.charge_handle_lookup IS 'bsky.actors.handle_lookups_charged_to after one more look-up.';

CREATE FUNCTION skua.handle_lookup_due(charged_to timestamptz, at timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE
  RETURN greatest(at, charged_to - interval '50 minutes');
COMMENT ON FUNCTION skua.handle_lookup_due IS 'When a look-up that was charged so may take place.';

DROP INDEX bsky.actors_handle_check_due;
CREATE INDEX actors_handle_check_due ON bsky.actors (handle_check_due)
  WHERE handle_check_due IS NOT NULL AND handle_valid IS NOT FALSE;
CREATE INDEX actors_refused_handle_check_due ON bsky.actors (handle_check_due)
  WHERE handle_check_due IS NOT NULL AND handle_valid IS FALSE;
