-- The address of a webhook often contains a secret. Readers of the database and the pages without a password see its origin
-- only.

ALTER TABLE skua.consumer_secrets ADD COLUMN url text;
COMMENT ON TABLE skua.consumer_secrets IS 'The addresses and secrets of webhooks, and the hashed tokens of pull consumers. Readers of the database do not see them.';
COMMENT ON COLUMN skua.consumer_secrets.url IS 'Of a webhook: the address that receives the changes. Null for a pull consumer.';
COMMENT ON COLUMN skua.consumers.url IS 'Of a webhook: the origin of the address that receives the changes, such as https://example.com. The address is in `skua.consumer_secrets`.';

UPDATE skua.consumer_secrets AS s SET url = c.url FROM skua.consumers AS c WHERE c.id = s.consumer_id AND c.url IS NOT NULL;
UPDATE skua.consumers SET url = substring(url FROM '^[A-Za-z]+://[^/?#]+') WHERE url IS NOT NULL;
