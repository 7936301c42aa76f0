-- An hour after a retention of posts was set, no process relies on the first CIDs of posts any more (ADR 16), so that rows can be
-- deleted. Former versions never relied on them.
ALTER TABLE skua.retention ADD COLUMN set_at timestamptz NOT NULL DEFAULT now();
UPDATE skua.retention SET set_at = '-infinity';
COMMENT ON COLUMN skua.retention.set_at IS 'The time at which the collection got a retention.';
