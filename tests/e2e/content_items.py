"""What posts contain, as the views show it, and the labels that authors give their records."""

import post_content
from items import Kind
from post_content import media
from recount import POST, parent, quoted, root_of, target

FACET_VALUES = {"mention": "did", "link": "uri", "tag": "tag"}
LABELED = {
    "posts": POST, "profiles": "app.bsky.actor.profile", "lists": "app.bsky.graph.list",
    "feed_generators": "app.bsky.feed.generator", "labelers": "app.bsky.labeler.service",
}


def facets(kind):
    def expected(records):
        for uri, post in records.visible(POST):
            for facet in post.get("facets") or []:
                for feature in facet["features"]:
                    if feature["$type"] == f"app.bsky.richtext.facet#{kind}":
                        yield uri, feature[FACET_VALUES[kind]], facet["index"]["byteStart"], facet["index"]["byteEnd"]

    return Kind(f"facet {kind}", "select uri, value, byte_start, byte_end from bsky.post_facets_view "
                f"where kind = '{kind}'", expected)


def image_list(post):
    found = media(post)
    return found.get({"app.bsky.embed.images": "images", "app.bsky.embed.gallery": "items"}.get(found.get("$type"))) or []


def images(records):
    for uri, post in records.visible(POST):
        for place, image in enumerate(image_list(post), 1):
            blob, ratio = image["image"], image.get("aspectRatio") or {}
            yield (uri, place, blob["ref"]["$link"], image["alt"], blob["mimeType"], blob["size"], ratio.get("width"),
                   ratio.get("height"))


def captions(records):
    for uri, post in records.visible(POST):
        for caption in media(post).get("captions") or []:
            yield uri, caption["lang"], caption["file"]["ref"]["$link"]


def embeds(kind):
    """The whole embed of posts with an embed of this kind."""
    return Kind(f"embed {kind}", f"select uri, embed from bsky.posts_view where embed ->> '$type' = 'app.bsky.embed.{kind}'",
                lambda records: [(uri, post["embed"]) for uri, post in records.visible(POST)
                                 if (post.get("embed") or {}).get("$type") == f"app.bsky.embed.{kind}"])


def each(column):
    """The single values of a list of posts."""
    return Kind(column, f"select uri, v from bsky.posts_view, unnest({column}) v",
                lambda records: [(uri, value) for uri, post in records.visible(POST) for value in post.get(column) or []])


def derived(name, query, column):
    """The single values of a column that follows from several fields, of the posts of all accounts."""
    return Kind(name, query, lambda records: [(uri, value) for uri, post in records.all(POST)
                                              for value in post_content.COLUMNS[column](post) or []])


def links(records):
    for uri, post in records.all(POST):
        for link in post_content.links(post) or []:
            yield uri, link, post_content.link_host(link)


def of_column(column, condition):
    """A column that follows from the embed."""
    return Kind(column, f"select uri, {column} from bsky.posts_view where {condition}",
                lambda records: [(uri, post_content.COLUMNS[column](post)) for uri, post in records.visible(POST)
                                 if post_content.COLUMNS[column](post) is not None])


def quotes(records):
    for uri, post in records.visible(POST):
        if target(quoted(post)):
            yield uri, quoted(post)["uri"], quoted(post)["cid"]


def replies(records):
    for uri, post in records.visible(POST):
        if parent(post) and root_of(post):
            reply = post["reply"]
            yield uri, parent(post), reply["parent"]["cid"], root_of(post), reply["root"]["cid"]


def labels(view):
    return Kind(f"label of {view}", f"select uri, v from bsky.{view}_view, unnest(labels) v",
                lambda records: [(uri, label["val"]) for uri, record in records.visible(LABELED[view])
                                 for label in (record.get("labels") or {}).get("values") or []])


KINDS = [
    Kind("invalid record", "select bsky.uri(actor_id, collection_id, rkey) from bsky.records where invalid_reason is not null",
         lambda records: [(uri,) for uri in records.recount.invalid]),
    *map(facets, FACET_VALUES),
    derived("mention", "select bsky.uri(actor_id, 1, rkey), (select did from bsky.actors where id = mentioned_actor) "
            "from bsky.post_mentions", "mentions"),
    derived("tag", "select bsky.uri(actor_id, 1, rkey), tag from bsky.post_tags", "all_tags"),
    Kind("link", "select bsky.uri(actor_id, 1, rkey), link, host from bsky.post_links", links),
    derived("host", "select uri, v from bsky.posts p, unnest(link_hosts) v, lateral bsky.uri(actor_id, 1, rkey) uri",
            "link_hosts"),
    *map(embeds, ("images", "gallery", "video", "external", "record", "recordWithMedia")),
    Kind("image", "select uri, position, cid, alt, mime_type, size, width, height from bsky.post_images_view", images),
    Kind("captions", "select uri, c ->> 'lang' as lang, c #>> '{file,ref,$link}' as cid from bsky.posts_view, "
         "jsonb_array_elements(coalesce(embed -> 'media', embed) -> 'captions') c", captions),
    of_column("images_without_alt", "images_without_alt is not null"),
    of_column("has_video", "has_video is distinct from false"),
    each("langs"),
    each("tags"),
    *map(labels, LABELED),
    Kind("quote", "select uri, quote_uri, quote_cid from bsky.posts_view where quote_uri is not null", quotes),
    Kind("reply", "select uri, parent_uri, parent_cid, root_uri, root_cid from bsky.posts_view "
         "where parent_uri is not null or root_uri is not null", replies),
]
