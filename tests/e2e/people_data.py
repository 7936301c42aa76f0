"""The data of test_questions_of_a_million.py and of query_bench.py: a small network with the proportions of the real one, made by SQL.

Popular accounts and posts have most of the followers and likes. The posts, likes and reposts are of the last ten days, and
the likes follow the posts by hours. Account 1 (filled.HANDLE) is popular, and follows many accounts.
"""

import sys

import filled

SHARES = {"likes": 0.70, "posts": 0.12, "reposts": 0.09, "follows": 0.08}
DAYS = 10
FOLLOWED = 4000

# `pow(random(), 2)` makes low numbers frequent: they are the popular accounts and posts.
DATA = """
set synchronous_commit = off; set work_mem = '256MB';
select setseed(0.5);
create function pg_temp.key(at timestamptz, i int8) returns int8 language sql immutable as
  $$ select ((extract(epoch from at) * 1000000)::int8 << 10) + i % 1024 $$;
insert into bsky.actors (did, handle, active, indexed_at)
select case i when 1 then '{account}' when 2 then '{labeler}'
  else 'did:plc:' || translate(substr(md5(i::text), 1, 24), '0189', 'wxyz') end,
  case when i = 1 then '{handle}' when i % 10 > 0 then 'n' || i || '.test' end, true, now()
from generate_series(1, {accounts}) as i order by i;
insert into bsky.profiles (actor_id, rkey, rev, indexed_at, created_at, cid, display_name)
select id, bsky.rkey_number('self'), 1, now(), now() - random() * interval '800 days', sha256(int8send(id)), 'Account ' || id
from bsky.actors;
create temp table post as
select row_number() over () as n, 1 + (pow(random(), 2) * ({accounts} - 1))::int4 as actor_id, at, pg_temp.key(at, i) as rkey, i, random() as r
from (select i, now() - interval '{days} days' * random() as at from generate_series(1, {posts}::int8) i order by 2) s;
analyze post;
-- The popular ones have low numbers.
create temp table popular as select row_number() over (order by random()) as n, actor_id, rkey, at, i as number, r from post;
create index on popular (n); analyze popular;
-- The parents and roots of replies. Each round doubles the distance to the root.
create temp table reply as select n, number, parent, parent as root
from (select n, number, 1 + (pow(r, 2) * ({posts} - 1))::int8 as parent from popular where number % 5 < 2) p;
create index on reply (n); create index on reply (number); analyze reply;
do $$ begin
  for round in 1..5 loop update reply c set root = p.root from reply p where p.n = c.root; end loop;
end $$;
analyze reply;
insert into bsky.posts (rkey, rev, indexed_at, created_at, actor_id, cid, text, langs, facets, embed, parent_actor, parent_rkey,
  parent_cid, root_actor, root_rkey, root_cid, quote_actor, quote_collection, quote_rkey, quote_cid)
select p.rkey, p.rkey, p.at, p.at, p.actor_id, sha256(int8send(p.rkey)),
  (select string_agg('word' || (pow(random(), 3) * 20000)::int4, ' ') from generate_series(1, 5 + p.i % 25)),
  case when p.i % 10 < 8 then case p.i % 3 when 0 then 'ja' when 1 then 'de' else 'en' end end,
  case p.i % 20 when 0 then jsonb_build_array(jsonb_build_object('index', jsonb_build_object('byteStart', 0, 'byteEnd', 4),
      'features', jsonb_build_array(jsonb_build_object('$type', 'app.bsky.richtext.facet#tag', 'tag',
        case when p.i % 400 = 0 then 'art' else 'tag' || (pow(random(), 3) * 3000)::int4 end))))
    when 1 then jsonb_build_array(jsonb_build_object('index', jsonb_build_object('byteStart', 0, 'byteEnd', 4), 'features',
      jsonb_build_array(jsonb_build_object('$type', 'app.bsky.richtext.facet#link', 'uri',
        case when p.i % 2000 = 1 then 'https://bsky.social/about'
             else 'https://n' || (pow(random(), 3) * 500)::int4 || '.test/' || p.i end))))
    when 2 then jsonb_build_array(jsonb_build_object('index', jsonb_build_object('byteStart', 0, 'byteEnd', 4), 'features',
      jsonb_build_array(jsonb_build_object('$type', 'app.bsky.richtext.facet#mention', 'did',
        case when p.i % 1000 = 2 then '{account}' else 'did:web:n' || p.i || '.test' end)))) end,
  case when p.i % 4 = 0 then jsonb_build_object('$type', 'app.bsky.embed.images', 'images', jsonb_build_array(
    jsonb_build_object('alt', case when p.i % 8 = 0 then '' else 'words' end, 'image', jsonb_build_object('size', 1)))) end,
  a.actor_id, a.rkey, sha256(int8send(a.rkey)), r.actor_id, r.rkey, sha256(int8send(r.rkey)),
  q.actor_id, case when q.actor_id is not null then 1 end, q.rkey, sha256(int8send(q.rkey))
from post p
left join reply c on c.number = p.i
left join popular a on a.n = c.parent
left join popular r on r.n = c.root
left join popular q on p.i % 20 = 7 and q.n = 1 + (pow(p.r, 2) * ({posts} - 1))::int8;
insert into bsky.likes (rkey, rev, indexed_at, created_at, subject_rkey, actor_id, subject_actor, subject_collection, cid,
  subject_cid)
select pg_temp.key(l.at, i), 1, l.at, l.at, case when i % 200 = 0 then g else p.rkey end,
  1 + (pow(random(), 2) * ({accounts} - 1))::int4, case when i % 200 = 0 then 1 + g else p.actor_id end,
  case when i % 200 = 0 then 6 else 1 end, sha256(int8send(i)), sha256(int8send(p.rkey))
from (select i, 1 + (pow(random(), 2) * ({posts} - 1))::int8 as n, (pow(random(), 3) * 1000)::int4 as g, random() as r
      from generate_series(1, {likes}::int8) i) s
join popular p on p.n = s.n
cross join lateral (select p.at + pow(s.r, 3) * least(interval '2 days', now() - p.at) as at) l
on conflict do nothing;
insert into bsky.reposts (rkey, rev, indexed_at, created_at, subject_rkey, actor_id, subject_actor, subject_collection, cid,
  subject_cid)
select pg_temp.key(l.at, i), 1, l.at, l.at, p.rkey, 1 + (pow(random(), 2) * ({accounts} - 1))::int4, p.actor_id, 1,
  sha256(int8send(i)), sha256(int8send(p.rkey))
from (select i, 1 + (pow(random(), 2) * ({posts} - 1))::int8 as n, random() as r from generate_series(1, {reposts}::int8) i) s
join popular p on p.n = s.n
cross join lateral (select p.at + pow(s.r, 3) * least(interval '2 days', now() - p.at) as at) l
on conflict do nothing;
insert into bsky.follows (rkey, rev, indexed_at, created_at, actor_id, subject_actor, cid)
select pg_temp.key(at, i), 1, at, at, case when i <= {followed} then 1 when i % 40 = 0 then 2 + i % ({accounts} - 2)
  else 1 + (random() * ({accounts} - 1))::int4 end,
  case when i <= {followed} then 2 + (i * 7919) % ({accounts} - 2) when i % 40 = 0 then 1
  else 1 + (pow(random(), 2) * ({accounts} - 1))::int4 end, sha256(int8send(i))
from (select i, now() - random() * interval '400 days' as at from generate_series(1, {follows}::int8) i) s on conflict do nothing;
insert into bsky.blocks (rkey, rev, indexed_at, created_at, actor_id, subject_actor, cid)
select i << 10, 1, now(), now(), 1 + (random() * ({accounts} - 1))::int4, 1 + (pow(random(), 2) * ({accounts} - 1))::int4,
  sha256(int8send(i)) from generate_series(1, {follows}::int8 / 10) i on conflict do nothing;
insert into bsky.feed_generators (rkey, rev, indexed_at, created_at, actor_id, cid, service_did, display_name)
select i, 1, now(), now(), 1 + i, sha256(int8send(i)), 'did:web:feed.test', 'Feed ' || i from generate_series(0, 1000) i;
insert into bsky.lists (rkey, rev, indexed_at, created_at, actor_id, cid, name, purpose)
select i, 1, now(), now(), 1 + i, sha256(int8send(i)), 'List ' || i, 'app.bsky.graph.defs#curatelist' from generate_series(0, 999) i;
insert into bsky.list_items (rkey, rev, indexed_at, created_at, actor_id, cid, subject_actor, list_actor, list_rkey)
select i << 10, 1, now(), now(), 1 + i % 1000, sha256(int8send(i)),
  case when i % 500 = 0 then 1 else 1 + (random() * ({accounts} - 1))::int4 end, 1 + i % 1000, i % 1000
from generate_series(1, {follows}::int8 / 10) i on conflict do nothing;
insert into bsky.labels (actor_id, subject_actor, subject_collection, subject_rkey, val, cts, neg, indexed_at, seq)
select 2, 1 + (random() * ({accounts} - 1))::int4, 0, 0, 'spam', now(), false, now(), i from generate_series(1, 2000) i
on conflict do nothing;
insert into bsky.collections (nsid) values ('com.example.one'), ('com.example.two') on conflict do nothing;
insert into bsky.records (actor_id, collection_id, rkey, rev, indexed_at, cid, record, invalid_reason)
select 1 + (random() * ({accounts} - 1))::int4, 1000 + i % 2, i << 10, 1, now(), sha256(int8send(i)), '{{}}',
  case when i % 10 = 0 then 'text: missing' end
from generate_series(1, {records}::int8 / 100) i on conflict do nothing;
"""


def fill(database, records, accounts=100_000, shares=None):
    """Fills an empty, migrated database. The URI of the most liked post, for the questions about a post."""
    counts = {table: int(records * share) for table, share in (shares or SHARES).items()}
    database.run(DATA.format(account=filled.ACCOUNT, handle=filled.HANDLE, labeler=filled.LABELER, accounts=accounts, days=DAYS,
                             followed=min(FOLLOWED, accounts // 10), records=records, **counts))
    database.run("vacuum (freeze, analyze)")
    return database.run("select bsky.uri(subject_actor, 1, subject_rkey) from bsky.likes where subject_collection = 1 "
                        "group by subject_actor, subject_rkey order by count(*) desc limit 1")
