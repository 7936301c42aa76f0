"""The data of the part `popular` of query_bench.py: the network of people_data.py, and subjects with very many records. With the
defaults of the bench: 660,000 posts, 1.6 million likes and 750,000 follows of 250,000 accounts.

One post has the likes and reposts of most accounts, one account their follows, and one list very many members. One account has
imported old posts: their record keys are of today, and their createdAt is years ago. Its other posts are as old as those of others.
One post has a thread of 10,000 replies: half of them to the post, the others to any post of the thread.
"""

import people_data

SHARES = {"likes": 0.47, "posts": 0.22, "reposts": 0.066, "follows": 0.183}
# The accounts 10 to 14 have these roles.
POST_AUTHOR, FOLLOWED, OWNER, IMPORTER, STARTER = range(10, 15)
REPLIES = 10_000

DATA = """
set synchronous_commit = off; set work_mem = '256MB';
select setseed(0.25);
create function pg_temp.key(at timestamptz, i int8) returns int8 language sql immutable as
  $$ select ((extract(epoch from at) * 1000000)::int8 << 10) + i % 1024 $$;
create temp table hot_post as select actor_id, rkey, least(created_at, indexed_at) as at from bsky.posts
where actor_id = {author} order by rkey limit 1;
create temp table liker as select id, row_number() over (order by random()) as n from bsky.actors where id > 20 limit {popular};
analyze liker;
insert into bsky.likes (rkey, rev, indexed_at, created_at, subject_rkey, actor_id, subject_actor, subject_collection, cid, subject_cid)
select pg_temp.key(l.at, l.n), 1, l.at, l.at, p.rkey, l.id, p.actor_id, 1, sha256(int8send(l.n)), sha256(int8send(p.rkey))
from hot_post p cross join lateral (select n, id, p.at + (now() - p.at) * (n::float8 / {popular}) as at from liker) l order by l.at
on conflict do nothing;
insert into bsky.reposts (rkey, rev, indexed_at, created_at, subject_rkey, actor_id, subject_actor, subject_collection, cid, subject_cid)
select pg_temp.key(l.at, l.n), 1, l.at, l.at, p.rkey, l.id, p.actor_id, 1, sha256(int8send(l.n)), sha256(int8send(p.rkey))
from hot_post p cross join lateral (select n, id, p.at + (now() - p.at) * (n::float8 / {popular}) as at from liker) l order by l.at
on conflict do nothing;
insert into bsky.follows (rkey, rev, indexed_at, created_at, actor_id, subject_actor, cid)
select pg_temp.key(at, n), 1, at, at, id, {followed}, sha256(int8send(n))
from (select id, n, now() - interval '400 days' * (1 - n::float8 / {popular}) as at from liker) l order by at on conflict do nothing;
insert into bsky.lists (rkey, rev, indexed_at, created_at, actor_id, cid, name, purpose)
select pg_temp.key(now(), 0), 1, now(), now(), {owner}, sha256(''), 'Very long', 'app.bsky.graph.defs#curatelist';
insert into bsky.list_items (rkey, rev, indexed_at, created_at, actor_id, cid, subject_actor, list_actor, list_rkey)
select pg_temp.key(at, n), 1, at, at, {owner}, sha256(int8send(n)), id, {owner}, rkey
from (select n, id, now() - interval '1 day' + n * interval '1 second' as at from liker where n <= {popular} / 4) k,
  (select max(rkey) as rkey from bsky.lists where actor_id = {owner}) l order by at;
insert into bsky.posts (rkey, rev, indexed_at, created_at, actor_id, cid, text)
select pg_temp.key(now() - interval '1 hour' + i * interval '0.1 second', i), 1, now(), now() - interval '3 years' + i * interval '1 minute',
  {importer}, sha256(int8send(i)), 'imported ' || i from generate_series(1, {popular} / 10) i;
create temp table thread as
select n, at, pg_temp.key(at, n) as rkey, actor_id, case when n > 0 then case n % 2 when 0 then 0 else floor(random() * n)::int8 end end as parent
from (select n, now() - interval '1 day' + n * interval '5 seconds' as at, case n when 0 then {starter} else 30 + n * 7 % ({popular} - 30) end as actor_id
      from generate_series(0, {replies}::int8) n) s;
create index on thread (n); analyze thread;
insert into bsky.posts (rkey, rev, indexed_at, created_at, actor_id, cid, text, parent_actor, parent_rkey, root_actor, root_rkey)
select t.rkey, 1, t.at, t.at, t.actor_id, sha256(int8send(t.n)), repeat(md5(t.n::text), 4), p.actor_id, p.rkey, r.actor_id, r.rkey
from thread t left join thread p on p.n = t.parent left join thread r on r.n = 0 and t.n > 0;
"""


def fill(database, records, accounts):
    """Fills an empty, migrated database. The addresses of the popular post, account and list, and of the importer."""
    people_data.fill(database, records, accounts, SHARES)
    database.run(DATA.format(author=POST_AUTHOR, followed=FOLLOWED, owner=OWNER, importer=IMPORTER, starter=STARTER, replies=REPLIES,
                             popular=accounts * 4 // 5))
    database.run("vacuum (freeze, analyze)")
    subjects = database.rows(
        f"select (select bsky.uri(actor_id, 1, min(rkey)) from bsky.posts where actor_id = {POST_AUTHOR} group by actor_id) as post, "
        f"(select did from bsky.actors where id = {FOLLOWED}) as account, (select did from bsky.actors where id = {IMPORTER}) as importer, "
        f"(select bsky.uri(actor_id, 9, max(rkey)) from bsky.lists where actor_id = {OWNER} group by actor_id) as list, "
        f"(select bsky.uri(root_actor, 1, root_rkey) from bsky.posts where root_actor = {STARTER} group by root_actor, root_rkey "
        "order by count(*) desc limit 1) as thread")[0]
    page = database.rows(f"select uri from bsky.thread('{subjects['thread']}', max_posts => 1, after_place => {REPLIES // 2 - 1})")
    return {**subjects, "thread_post": page[0]["uri"]}
