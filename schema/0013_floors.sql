-- The guard reads the floor of every account of every batch. Nearly all are 0: an index of the others
-- spares it their rows in bsky.actors, which lie as far apart as accounts do.

CREATE INDEX actors_floor ON bsky.actors (id) INCLUDE (floor_rev) WHERE floor_rev > 0;
