"""The limits of the lexicons, written again for the tests: whether a record with the right fields and types goes beyond
one. Only the limits are here; oracle.py knows the rest.

Grapheme clusters are counted by a simplified rule, without the exceptions of Unicode Standard Annex 29 for Hangul letters,
Indic conjuncts, and characters that stand before a cluster. Texts of the test data have none of these near a limit.
"""

import re
import unicodedata

MEGABYTE = 1_000_000
JOINER = "\u200d"
# A simplification of RFC 5646 that is exact for the tags of the test data.
LANGUAGE = re.compile(r"([a-z]{2,3}|[a-z]{5,8}|[xX])(-[A-Za-z0-9]{1,8})*|i-[a-z]+")
AVATAR = (("image/png", "image/jpeg"), MEGABYTE)
IMAGE = (("image/",), 2 * MEGABYTE)
TEN_BYTES_EACH = 10

# Grapheme clusters of texts that may have ten bytes for each.
GRAPHEMES = {
    "app.bsky.feed.post": {"text": 300},
    "app.bsky.feed.generator": {"displayName": 24, "description": 300},
    "app.bsky.graph.list": {"description": 300},
    "app.bsky.graph.starterpack": {"name": 50, "description": 300},
    "app.bsky.actor.profile": {"displayName": 64, "description": 256, "pronouns": 20},
}
# The most items of lists.
ITEMS = {
    "app.bsky.feed.post": {"langs": 3, "tags": 8},
    "app.bsky.feed.threadgate": {"allow": 5, "hiddenReplies": 300},
    "app.bsky.feed.postgate": {"embeddingRules": 5, "detachedEmbeddingUris": 50},
    "app.bsky.graph.starterpack": {"feeds": 3},
}
BLOBS = {
    "app.bsky.feed.generator": ("avatar",),
    "app.bsky.graph.list": ("avatar",),
    "app.bsky.actor.profile": ("avatar", "banner"),
}


def graphemes(text):
    count, previous, flags = 0, "", 0
    for c in text:
        is_flag = "\U0001f1e6" <= c <= "\U0001f1ff"
        flags = flags + 1 if is_flag else 0
        extends = unicodedata.category(c) in ("Mn", "Me", "Mc") or c == JOINER or "\U0001f3fb" <= c <= "\U0001f3ff"
        joined = previous == JOINER or (previous == "\r" and c == "\n") or (is_flag and flags % 2 == 0)
        if not previous or not (extends or joined):
            count += 1
        previous = c
    return count


def _long(text, most):
    return len(text.encode()) > TEN_BYTES_EACH * most or graphemes(text) > most


def _bad_blob(blob, accepted, size):
    if blob.get("$type") != "blob":
        return False
    return blob["size"] > size or not any(
        blob["mimeType"].startswith(kind) if kind.endswith("/") else blob["mimeType"] == kind for kind in accepted)


def _bad_ratio(image):
    return min((image.get("aspectRatio") or {"width": 1}).values()) < 1


def _bad_media(media):
    kind = (media or {}).get("$type")
    if kind == "app.bsky.embed.recordWithMedia":
        return _bad_media(media["media"])
    images = {"app.bsky.embed.images": ("images", 4), "app.bsky.embed.gallery": ("items", 20)}
    if kind in images:
        field, most = images[kind]
        return len(media[field]) > most or any(
            _bad_blob(image["image"], *IMAGE) or _bad_ratio(image) for image in media[field] if "image" in image)
    if kind == "app.bsky.embed.video":
        captions = media.get("captions") or []
        return _bad_blob(media["video"], ("video/mp4",), 300 * MEGABYTE) or len(captions) > 20 or any(
            _bad_blob(each["file"], ("text/vtt",), 20_000) or not LANGUAGE.fullmatch(each["lang"])
            for each in captions) or _bad_ratio(media)
    if kind == "app.bsky.embed.external":
        thumb = media["external"].get("thumb")
        return thumb is not None and _bad_blob(thumb, ("image/",), MEGABYTE)
    return False


def _bad_facets(facets):
    return any(
        min(facet["index"]["byteStart"], facet["index"]["byteEnd"]) < 0
        or any(feature["$type"] == "app.bsky.richtext.facet#tag" and _long(feature["tag"], 64)
               for feature in facet["features"])
        for facet in facets or [])


def _bad_labels(labels):
    values = (labels or {}).get("values") or []
    return len(values) > 10 or any(len(label["val"].encode()) > 128 for label in values)


def _bad_own_fields(collection, record):
    """Limits of the fields that one collection has."""
    if collection == "app.bsky.feed.post":
        return any(not LANGUAGE.fullmatch(tag) for tag in record.get("langs") or []) or any(
            _long(tag, 64) for tag in record.get("tags") or [])
    if collection == "app.bsky.graph.list":
        return not 1 <= len(record["name"].encode()) <= 64
    if collection == "app.bsky.graph.starterpack":
        return record["name"] == ""
    if collection == "app.bsky.actor.status":
        return record.get("durationMinutes", 1) < 1
    if collection == "app.bsky.graph.verification":
        return not re.fullmatch(r"([a-zA-Z0-9-]{1,63}\.)+[a-zA-Z][a-zA-Z0-9-]*", record["handle"])
    return False


def exceeded(collection, record):
    """Whether a record goes beyond a limit of its lexicon."""
    texts = GRAPHEMES.get(collection, {})
    lists = ITEMS.get(collection, {})
    return (
        any(_long(record.get(field) or "", most) for field, most in texts.items())
        or any(len(record.get(field) or []) > most for field, most in lists.items())
        or any(_bad_blob(record[field], *AVATAR) for field in BLOBS.get(collection, ()) if field in record)
        or _bad_media(record.get("embed"))
        or _bad_facets(record.get("facets"))
        or _bad_facets(record.get("descriptionFacets"))
        or _bad_labels(record.get("labels"))
        or _bad_own_fields(collection, record)
    )
