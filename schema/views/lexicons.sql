-- The views of added lexicons that are missing, because a migration or another file had to drop them. `skua lexicon add` creates
-- them.
SELECT skua.make_lexicon_view(l.view_name, l.nsid, l.columns)
FROM skua.lexicons AS l WHERE l.view_name IS NOT NULL AND to_regclass(format('lexicon.%I', l.view_name)) IS NULL;
