-- The account of a dead letter: the letters of one account are bounded.

ALTER TABLE skua.dead_letter ADD COLUMN did text NOT NULL DEFAULT '';
COMMENT ON COLUMN skua.dead_letter.did IS 'The account that it is about; empty when that is not known. An account has 1,000 letters at most.';

UPDATE skua.dead_letter SET did = coalesce(substring(key FROM 'did:[a-z0-9]+:[^ /]+'), '');

CREATE INDEX dead_letter_did ON skua.dead_letter (did);
