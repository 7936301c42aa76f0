-- Pull consumers and webhooks of all nodes of a query database.
ALTER TABLE skua.consumers ADD COLUMN of_network boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN skua.consumers.of_network IS 'Of a pull consumer or webhook on a node: true if it was added with the query database. It is then on each node, and `skua serve` with the query database serves it.';
