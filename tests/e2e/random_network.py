"""A small network of random records that refer to each other. It has few accounts and subjects, so that duplicates, gates,
late parents, updates and deletions occur together. The seed determines all of it."""

import random

import atproto
from made import START, Network

POST, LIKE, REPOST, FOLLOW = ("app.bsky.feed.post", "app.bsky.feed.like", "app.bsky.feed.repost", "app.bsky.graph.follow")
THREADGATE, POSTGATE, BLOCK = "app.bsky.feed.threadgate", "app.bsky.feed.postgate", "app.bsky.graph.block"
LIST, LIST_ITEM, LIST_BLOCK = "app.bsky.graph.list", "app.bsky.graph.listitem", "app.bsky.graph.listblock"
VERIFICATION, PROFILE, STARTER_PACK = "app.bsky.graph.verification", "app.bsky.actor.profile", "app.bsky.graph.starterpack"
CID = atproto.cid_of(b"a version that nobody has")
BLOB = {"$type": "blob", "ref": CID, "mimeType": "image/png", "size": 9}
TAGS = ("art", "Art", "#cats", "日本", "Zażółć")
LABELS = {"$type": "com.atproto.label.defs#selfLabels", "values": [{"val": "porn"}, {"val": "spam"}]}


class RandomNetwork:
    """`frames`: the frames of a relay, in order."""

    def __init__(self, seed, accounts=8, actions=800):
        self.random = random.Random(seed)
        self.network = Network()
        self.accounts = [self.network.account(f"random{seed}x{number}") for number in range(accounts)]
        # The accounts that write: neither deactivated nor deleted.
        self.writers = list(self.accounts)
        # AT-URIs that records name. Some records do not exist yet, or any more.
        self.posts, self.reposts, self.lists, self.packs = [], [], [], []
        self.roots = {}
        steps = {self.post: 30, self.like: 20, self.repost: 10, self.follow: 10, self.block: 2, self.list: 2,
                 self.list_item: 8, self.list_block: 2, self.verification: 2, self.starter_pack: 1, self.profile: 2, self.threadgate: 8, self.postgate: 5, self.update: 8, self.delete: 16, self.status: 1}
        for _ in range(actions):
            (step,) = self.random.choices(list(steps), steps.values())
            step(self.random.choice(self.writers))
        self.frames = self.network.frames

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, values):
        """Mostly one of the last values."""
        return self.random.choice(values[-12:] if self.chance(0.8) else values)

    def put(self, account, collection, record, rkey=None):
        created = self.network.time()
        if self.chance(0.04):
            created = self.random.choice(("yesterday", "2099-01-01T00:00:00.000Z"))
        return account.put(collection, {"createdAt": created, **record}, rkey)[0]

    def a_post(self):
        """The AT-URI of a post. The post may be written later, or never."""
        if not self.posts or self.chance(0.05):
            micros = int(START.timestamp() * 1_000_000) + (self.network.seq + 1) * 1000
            rkey = atproto.tid_text(micros << 10 | self.random.randrange(1, 1024))
            self.posts.append(f"at://{self.random.choice(self.accounts).did}/{POST}/{rkey}")
        return self.pick(self.posts)

    def content(self):
        """The fields of a post."""
        post = {"text": "a text of a post"}
        if self.chance(0.3):
            features = [{"$type": "app.bsky.richtext.facet#mention", "did": self.random.choice(self.accounts).did},
                        {"$type": "app.bsky.richtext.facet#tag", "tag": self.random.choice(TAGS)},
                        {"$type": "app.bsky.richtext.facet#link", "uri": "https://Example.com:80/a"}]
            post["facets"] = [{"index": {"byteStart": 0, "byteEnd": 6}, "features": self.random.sample(features, 2)}]
        if self.chance(0.7):
            parent = self.a_post()
            root = self.roots.get(parent, parent) if self.chance(0.8) else self.a_post()
            post["reply"] = {"parent": reference(parent), "root": reference(root)}
        if self.chance(0.3):
            post["embed"] = self.embed()
        if self.chance(0.2):
            post["labels"] = LABELS
        return post

    def embed(self):
        alts = self.random.choices(("", "a cat"), k=2)
        images = {"$type": "app.bsky.embed.images", "images": [{"alt": alt, "image": BLOB} for alt in alts]}
        gallery = {"$type": "app.bsky.embed.gallery", "items": [
            {"$type": "app.bsky.embed.gallery#image", "alt": alt, "image": BLOB, "aspectRatio": {"width": 4, "height": 3}}
            for alt in alts]}
        quote = {"$type": "app.bsky.embed.record", "record": reference(self.a_post())}
        if self.chance(0.1) and self.lists:
            quote["record"] = reference(self.pick(self.lists))
        both = {"$type": "app.bsky.embed.recordWithMedia", "record": quote, "media": images}
        return self.random.choice((images, gallery, quote, quote, both))

    # Steps of an account.

    def post(self, account, uri=None):
        planned = [uri for uri in self.posts if uri.startswith(f"at://{account.did}/")
                   and uri.split("/", 3)[3] not in account.records]
        if planned and self.chance(0.3):
            uri = self.random.choice(planned)
        record = self.content()
        uri = self.put(account, POST, record, uri and uri.split("/")[-1])
        self.roots[uri] = record["reply"]["root"]["uri"] if "reply" in record else uri
        if uri not in self.posts:
            self.posts.append(uri)

    def update(self, account):
        own = [path for path in account.records if path.startswith(POST)]
        if own:
            self.post(account, f"at://{account.did}/{self.random.choice(own)}")

    def subject(self):
        via = {"via": reference(self.pick(self.reposts))} if self.reposts and self.chance(0.3) else {}
        return {"subject": reference(self.a_post()), **via}

    def like(self, account):
        self.put(account, LIKE, self.subject())

    def repost(self, account):
        self.reposts.append(self.put(account, REPOST, self.subject()))

    def follow(self, account):
        self.put(account, FOLLOW, {"subject": self.random.choice(self.accounts).did})

    def block(self, account):
        self.put(account, BLOCK, {"subject": self.random.choice(self.accounts).did})

    def list(self, account):
        purpose = self.random.choice(("curatelist", "modlist"))
        record = {"purpose": f"app.bsky.graph.defs#{purpose}", "name": "a list", "labels": LABELS}
        self.lists.append(self.put(account, LIST, record))

    def list_item(self, account):
        if self.lists:
            self.put(account, LIST_ITEM, {"list": self.pick(self.lists), "subject": self.random.choice(self.accounts).did})

    def list_block(self, account):
        if self.lists:
            self.put(account, LIST_BLOCK, {"subject": self.pick(self.lists)})

    def verification(self, account):
        self.put(account, VERIFICATION, {"subject": self.random.choice(self.accounts).did, "handle": "a.test", "displayName": "a name"})

    def starter_pack(self, account):
        if self.lists:
            self.packs.append(self.put(account, STARTER_PACK, {"name": "a pack", "list": self.pick(self.lists)}))

    def profile(self, account):
        joined = {"joinedViaStarterPack": reference(self.pick(self.packs))} if self.packs and self.chance(0.7) else {}
        self.put(account, PROFILE, {"displayName": "a name", **joined}, "self")

    def gated(self, account):
        """A post, mostly of the account, and the key of its gate, mostly the key of the post."""
        own = [uri for uri in self.posts if uri.startswith(f"at://{account.did}/")]
        post = self.pick(own) if own and self.chance(0.9) else self.a_post()
        return post, post.split("/")[-1] if self.chance(0.9) else self.a_post().split("/")[-1]

    def threadgate(self, account):
        post, rkey = self.gated(account)
        # Mostly the first post of a thread.
        if self.roots.get(post, post).startswith(f"at://{account.did}/") and self.chance(0.7):
            post = self.roots.get(post, post)
            rkey = post.split("/")[-1]
        rules = [{"$type": f"{THREADGATE}#{name}"} for name in ("mentionRule", "followerRule", "followingRule")]
        if self.lists:
            # A rule may name a record of another collection with the key of a list.
            named = self.pick(self.lists).replace(LIST, LIST if self.chance(0.7) else POST)
            rules.append({"$type": f"{THREADGATE}#listRule", "list": named})
        gate = {"post": post}
        if self.chance(0.9):
            gate["allow"] = self.random.sample(rules, self.random.randrange(3))
        if self.chance(0.5):
            thread = [uri for uri in self.posts if self.roots.get(uri) == post] or self.posts
            gate["hiddenReplies"] = self.random.choices(thread, k=2)
        self.put(account, THREADGATE, gate, rkey)

    def postgate(self, account):
        post, rkey = self.gated(account)
        gate = {"post": post, "embeddingRules": [{"$type": f"{POSTGATE}#disableRule"}] if self.chance(0.6) else []}
        if self.chance(0.5):
            gate["detachedEmbeddingUris"] = self.random.choices(self.posts, k=2)
        self.put(account, POSTGATE, gate, rkey)

    def delete(self, account):
        paths = list(account.records)
        if paths:
            account.delete(f"at://{account.did}/{self.pick(paths)}")

    def status(self, account):
        """An account is deactivated, deleted, or active again."""
        away = [other for other in self.accounts if other not in self.writers and other.records]
        if away and self.chance(0.7):
            self.writers.append(away[0])
            self.network.send("#account", did=away[0].did, active=True)
        elif len(self.writers) > 4:
            self.writers.remove(account)
            status = "deleted" if self.chance(0.3) else "deactivated"
            if status == "deleted":
                account.records.clear()
            self.network.send("#account", did=account.did, active=False, status=status)


def reference(uri):
    return {"uri": uri, "cid": CID.text()}
