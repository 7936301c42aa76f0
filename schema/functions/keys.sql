-- The numbers of the tables as text, and the reverse: timestamp identifiers, record keys, CIDs and AT-URIs.

CREATE OR REPLACE FUNCTION bsky.tid_text(n int8) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  a CONSTANT text[] := '{2,3,4,5,6,7,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z}';
BEGIN
  RETURN a[1 + ((n >> 60) & 31)] || a[1 + ((n >> 55) & 31)] || a[1 + ((n >> 50) & 31)] || a[1 + ((n >> 45) & 31)]
    || a[1 + ((n >> 40) & 31)] || a[1 + ((n >> 35) & 31)] || a[1 + ((n >> 30) & 31)] || a[1 + ((n >> 25) & 31)]
    || a[1 + ((n >> 20) & 31)] || a[1 + ((n >> 15) & 31)] || a[1 + ((n >> 10) & 31)] || a[1 + ((n >> 5) & 31)] || a[1 + (n & 31)];
END
$$;
COMMENT ON FUNCTION bsky.tid_text(int8) IS 'The text of a timestamp identifier: of a revision, or of a record key that is not negative.';

CREATE OR REPLACE FUNCTION bsky.tid_number(tid text) RETURNS int8
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 1, 1)) - 1)::int8 << 60)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 2, 1)) - 1)::int8 << 55)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 3, 1)) - 1)::int8 << 50)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 4, 1)) - 1)::int8 << 45)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 5, 1)) - 1)::int8 << 40)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 6, 1)) - 1)::int8 << 35)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 7, 1)) - 1)::int8 << 30)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 8, 1)) - 1)::int8 << 25)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 9, 1)) - 1)::int8 << 20)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 10, 1)) - 1)::int8 << 15)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 11, 1)) - 1)::int8 << 10)
       | ((strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 12, 1)) - 1)::int8 << 5)
       | (strpos('234567abcdefghijklmnopqrstuvwxyz', substr(tid, 13, 1)) - 1)::int8
$$;
COMMENT ON FUNCTION bsky.tid_number(text) IS 'The number of a timestamp identifier. The form of the text is not checked.';

CREATE OR REPLACE FUNCTION bsky.tid_time(n int8) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN n >= 0 THEN timestamptz 'epoch' + ((n >> 10) / 1000000) * interval '1 second' + ((n >> 10) % 1000000) * interval '1 microsecond' END
$$;
COMMENT ON FUNCTION bsky.tid_time(int8) IS 'The time in a timestamp identifier: of a record key or a revision. Null for a record key that is not a timestamp.';

CREATE OR REPLACE FUNCTION bsky.has_doubtful_time(key int8, created_at timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT abs(extract(epoch FROM created_at - bsky.tid_time(key))) > 86400
$$;
COMMENT ON FUNCTION bsky.has_doubtful_time(int8, timestamptz) IS 'True if createdAt of a record differs by more than a day from the time in its key, as for records that were imported or have a wrong time. Null if the key is not a timestamp or the record states no time.';

CREATE OR REPLACE FUNCTION bsky.rkey_number(rkey text) RETURNS int8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF rkey ~ '^[2-7ab][2-7a-z]{12}$' THEN
    RETURN bsky.tid_number(rkey);
  END IF;
  -- The first 63 bits of the SHA-256, as a negative number.
  RETURN -((('x' || encode(substr(sha256(convert_to(rkey, 'UTF8')), 1, 8), 'hex'))::bit(64)::int8 >> 1)
           & 9223372036854775807);
END
$$;
COMMENT ON FUNCTION bsky.rkey_number(text) IS 'The number of a record key: the value of a timestamp identifier, or a negative hash of any other text.';

CREATE OR REPLACE FUNCTION bsky.stored_rkey(actor_id int8, collection_id int4, rkey int8) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT k.text
          FROM bsky.rkeys k
          WHERE k.actor_id = stored_rkey.actor_id
            AND k.collection_id = stored_rkey.collection_id
            AND k.rkey = stored_rkey.rkey);
END
$$;
COMMENT ON FUNCTION bsky.stored_rkey(int8, int4, int8) IS 'The text of a record key from bsky.rkeys. Use bsky.rkey_text.';

-- The planner replaces a call of this function by its expression.
CREATE OR REPLACE FUNCTION bsky.rkey_text(actor_id int8, collection_id int4, rkey int8) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN rkey >= 0 THEN bsky.tid_text(rkey)
              WHEN rkey = -244041388656280411 THEN 'self'
              ELSE bsky.stored_rkey(actor_id, collection_id, rkey) END
$$;
COMMENT ON FUNCTION bsky.rkey_text(int8, int4, int8) IS 'The text of a record key.';

CREATE OR REPLACE FUNCTION bsky.cid_text(d bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  a CONSTANT text[] := '{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,2,3,4,5,6,7}';
BEGIN
  -- The base32 form of 01 71 12 20 and the digest. The first four bytes always become the same characters.
  RETURN 'bafyrei'
    || a[1 + (get_byte(d, 0) >> 5)] || a[1 + (get_byte(d, 0) & 31)]
    || a[1 + ((get_byte(d, 1) >> 3) & 31)] || a[1 + (((get_byte(d, 1) << 2) & 31) | (get_byte(d, 2) >> 6))]
    || a[1 + ((get_byte(d, 2) >> 1) & 31)] || a[1 + (((get_byte(d, 2) << 4) & 31) | (get_byte(d, 3) >> 4))]
    || a[1 + (((get_byte(d, 3) << 1) & 31) | (get_byte(d, 4) >> 7))] || a[1 + ((get_byte(d, 4) >> 2) & 31)]
    || a[1 + (((get_byte(d, 4) << 3) & 31) | (get_byte(d, 5) >> 5))] || a[1 + (get_byte(d, 5) & 31)]
    || a[1 + ((get_byte(d, 6) >> 3) & 31)] || a[1 + (((get_byte(d, 6) << 2) & 31) | (get_byte(d, 7) >> 6))]
    || a[1 + ((get_byte(d, 7) >> 1) & 31)] || a[1 + (((get_byte(d, 7) << 4) & 31) | (get_byte(d, 8) >> 4))]
    || a[1 + (((get_byte(d, 8) << 1) & 31) | (get_byte(d, 9) >> 7))] || a[1 + ((get_byte(d, 9) >> 2) & 31)]
    || a[1 + (((get_byte(d, 9) << 3) & 31) | (get_byte(d, 10) >> 5))] || a[1 + (get_byte(d, 10) & 31)]
    || a[1 + ((get_byte(d, 11) >> 3) & 31)] || a[1 + (((get_byte(d, 11) << 2) & 31) | (get_byte(d, 12) >> 6))]
    || a[1 + ((get_byte(d, 12) >> 1) & 31)] || a[1 + (((get_byte(d, 12) << 4) & 31) | (get_byte(d, 13) >> 4))]
    || a[1 + (((get_byte(d, 13) << 1) & 31) | (get_byte(d, 14) >> 7))] || a[1 + ((get_byte(d, 14) >> 2) & 31)]
    || a[1 + (((get_byte(d, 14) << 3) & 31) | (get_byte(d, 15) >> 5))] || a[1 + (get_byte(d, 15) & 31)]
    || a[1 + ((get_byte(d, 16) >> 3) & 31)] || a[1 + (((get_byte(d, 16) << 2) & 31) | (get_byte(d, 17) >> 6))]
    || a[1 + ((get_byte(d, 17) >> 1) & 31)] || a[1 + (((get_byte(d, 17) << 4) & 31) | (get_byte(d, 18) >> 4))]
    || a[1 + (((get_byte(d, 18) << 1) & 31) | (get_byte(d, 19) >> 7))] || a[1 + ((get_byte(d, 19) >> 2) & 31)]
    || a[1 + (((get_byte(d, 19) << 3) & 31) | (get_byte(d, 20) >> 5))] || a[1 + (get_byte(d, 20) & 31)]
    || a[1 + ((get_byte(d, 21) >> 3) & 31)] || a[1 + (((get_byte(d, 21) << 2) & 31) | (get_byte(d, 22) >> 6))]
    || a[1 + ((get_byte(d, 22) >> 1) & 31)] || a[1 + (((get_byte(d, 22) << 4) & 31) | (get_byte(d, 23) >> 4))]
    || a[1 + (((get_byte(d, 23) << 1) & 31) | (get_byte(d, 24) >> 7))] || a[1 + ((get_byte(d, 24) >> 2) & 31)]
    || a[1 + (((get_byte(d, 24) << 3) & 31) | (get_byte(d, 25) >> 5))] || a[1 + (get_byte(d, 25) & 31)]
    || a[1 + ((get_byte(d, 26) >> 3) & 31)] || a[1 + (((get_byte(d, 26) << 2) & 31) | (get_byte(d, 27) >> 6))]
    || a[1 + ((get_byte(d, 27) >> 1) & 31)] || a[1 + (((get_byte(d, 27) << 4) & 31) | (get_byte(d, 28) >> 4))]
    || a[1 + (((get_byte(d, 28) << 1) & 31) | (get_byte(d, 29) >> 7))] || a[1 + ((get_byte(d, 29) >> 2) & 31)]
    || a[1 + (((get_byte(d, 29) << 3) & 31) | (get_byte(d, 30) >> 5))] || a[1 + (get_byte(d, 30) & 31)]
    || a[1 + ((get_byte(d, 31) >> 3) & 31)] || a[1 + ((get_byte(d, 31) << 2) & 31)];
END
$$;
COMMENT ON FUNCTION bsky.cid_text(bytea) IS 'The CID of a record as text, for its SHA-256.';

CREATE OR REPLACE FUNCTION bsky.uri(actor_id int8, collection_id int4, rkey int8) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT 'at://' || a.did || '/' || c.nsid || '/'
                 || bsky.rkey_text(uri.actor_id, uri.collection_id, uri.rkey)
          FROM bsky.actors a, bsky.collections c
          WHERE a.id = uri.actor_id AND c.id = uri.collection_id);
END
$$;
COMMENT ON FUNCTION bsky.uri(int8, int4, int8) IS 'The AT-URI of a record; null if its account, collection or key is not known.';
