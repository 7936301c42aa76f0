-- The groups of accounts (ADR 18). libs/foundation/atproto/account_group.hpp has the same function.

CREATE OR REPLACE FUNCTION bsky.account_group(did text) RETURNS int4
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT get_byte(sha256(convert_to(did, 'UTF8')), 0) >> 2 $$;
COMMENT ON FUNCTION bsky.account_group(text) IS 'The group of an account, 0 to 63: the first six bits of the SHA-256 of its DID.';

CREATE OR REPLACE FUNCTION skua.new_account_number(did text) RETURNS int8
LANGUAGE sql VOLATILE
AS $$
  SELECT CASE WHEN g.numbers_have_group THEN bsky.account_group(did)::int8 << 46 ELSE 0 END | nextval('bsky.actors_id_seq')
  FROM skua.account_groups AS g
$$;
COMMENT ON FUNCTION skua.new_account_number(text) IS 'A new number for an account: its group in the bits from 2^46 on, and the next value of the sequence. In a database whose numbers have no group, the next value alone.';
REVOKE EXECUTE ON FUNCTION skua.new_account_number(text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION skua.newest_drawn_number() RETURNS int8
LANGUAGE sql STABLE
AS $$
  SELECT coalesce(max(newest.id & 70368744177663), 0)
  FROM generate_series(0, 63) AS g
  CROSS JOIN LATERAL (
    SELECT a.id FROM bsky.actors AS a WHERE a.id >= g::int8 << 46 AND a.id < (g + 1)::int8 << 46 ORDER BY a.id DESC LIMIT 1
  ) AS newest
$$;
COMMENT ON FUNCTION skua.newest_drawn_number() IS 'The greatest value of the sequence of account numbers that an account has, from one entry of the primary key for each group; 0: there are no accounts.';

CREATE OR REPLACE FUNCTION skua.random_account_number() RETURNS int8
LANGUAGE sql VOLATILE
AS $$
  SELECT coalesce((floor(random() * ((max(a.id) >> 46) + 1))::int8 << 46) + (random() * (max(a.id) & 70368744177663))::int8, 0)
  FROM bsky.actors AS a
$$;
COMMENT ON FUNCTION skua.random_account_number() IS 'A number at which a scan of a sample of accounts begins: a random place among the accounts of a random group. Not each number belongs to an account. 0 if there are no accounts.';
