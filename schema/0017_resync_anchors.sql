-- From which revision on a repository was followed without a gap: a resync that ends before it leaves
-- one.

ALTER TABLE skua.repositories ADD COLUMN anchor int8;
-- Where it is not known, now is the best that can be said.
UPDATE skua.repositories SET anchor = rev;
COMMENT ON COLUMN skua.repositories.anchor IS 'The newest revision that did not follow what was known, the first that was seen included: from it on nothing was missed. Null: none was seen.';
