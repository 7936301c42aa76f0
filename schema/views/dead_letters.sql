-- For readers, who may not read the table.

CREATE OR REPLACE VIEW skua.dead_letter_errors AS
  SELECT error, last_at FROM skua.dead_letter WHERE status = 'dead';
COMMENT ON VIEW skua.dead_letter_errors IS 'The errors of dead letters that nobody has handled, without what the network sent. For readers.';
COMMENT ON COLUMN skua.dead_letter_errors.error IS 'The reason.';
COMMENT ON COLUMN skua.dead_letter_errors.last_at IS 'The time of the last rejection of the letter.';
