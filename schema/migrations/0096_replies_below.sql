-- A reply also notifies the authors of up to three posts above its parent, which other nodes may have (ADR 24).
CREATE TABLE skua.replies_below (
  sort_at    timestamptz NOT NULL,
  rkey       int8        NOT NULL,
  actor_id   int8        NOT NULL,
  post_rkey  int8        NOT NULL,
  post_actor int8        NOT NULL,
  distance   int2        NOT NULL CHECK (distance BETWEEN 1 AND 3),
  is_new     boolean     NOT NULL DEFAULT true,
  PRIMARY KEY (post_actor, post_rkey, actor_id, rkey)
);
CREATE INDEX replies_below_reply ON skua.replies_below (actor_id, rkey);
CREATE INDEX replies_below_new ON skua.replies_below (actor_id) WHERE is_new;
COMMENT ON TABLE skua.replies_below IS 'On a node, the replies below the posts of its accounts, of accounts of all nodes. A reply that was removed stays. Only the projection notifications uses the table. Empty in a database that is no node.';
COMMENT ON COLUMN skua.replies_below.sort_at IS 'The earlier of the times at which the reply was created and indexed.';
COMMENT ON COLUMN skua.replies_below.rkey IS 'The record key of the reply, as a number.';
COMMENT ON COLUMN skua.replies_below.actor_id IS 'The author of the reply (bsky.actors.id).';
COMMENT ON COLUMN skua.replies_below.post_rkey IS 'The record key of the post, as a number.';
COMMENT ON COLUMN skua.replies_below.post_actor IS 'The author of the post (bsky.actors.id).';
COMMENT ON COLUMN skua.replies_below.distance IS '1: the post is the parent of the reply. 2: it is the parent of the parent. 3: one post more above.';
COMMENT ON COLUMN skua.replies_below.is_new IS 'True until the projection notifications has taken the row.';

ALTER TABLE skua.waiting_references
  ADD COLUMN reply_at timestamptz, ADD COLUMN reply_actor int8, ADD COLUMN reply_rkey int8, ADD COLUMN distance int2;
COMMENT ON COLUMN skua.waiting_references.reply_at IS 'Of a reply below the post of the account and record key (skua.replies_below): its sort_at.';
COMMENT ON COLUMN skua.waiting_references.reply_actor IS 'The author of the reply (bsky.actors.id).';
COMMENT ON COLUMN skua.waiting_references.reply_rkey IS 'The record key of the reply, as a number.';
COMMENT ON COLUMN skua.waiting_references.distance IS 'The distance of the reply and the post. Null: the row is no reply.';
