-- The limit of look-ups of handles (bsky.actors.handle_lookups_charged_to).

CREATE OR REPLACE FUNCTION skua.charge_handle_lookup(charged_to timestamptz, at timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE
  RETURN least(greatest(coalesce(charged_to, at), at) + interval '5 minutes', at + interval '55 minutes');
COMMENT ON FUNCTION skua.charge_handle_lookup(timestamptz, timestamptz) IS 'Returns the value of bsky.actors.handle_lookups_charged_to after one more look-up.';

CREATE OR REPLACE FUNCTION skua.handle_lookup_due(charged_to timestamptz, at timestamptz) RETURNS timestamptz
  LANGUAGE sql STABLE
  RETURN greatest(at, charged_to - interval '50 minutes');
COMMENT ON FUNCTION skua.handle_lookup_due(timestamptz, timestamptz) IS 'Returns the earliest time of a look-up, for a value of bsky.actors.handle_lookups_charged_to.';
