"""Columns of posts that follow from several fields of the record: functions of the JSON of a record."""

import re


def _features(record, kind, field):
    features = [feature for facet in record.get("facets") or [] for feature in facet["features"]]
    return [feature[field] for feature in features if feature["$type"] == f"app.bsky.richtext.facet#{kind}"]


def _first(values, number):
    """The first different values; None: there are none."""
    return list(dict.fromkeys(values))[:number] or None


def mentions(record):
    return _first(_features(record, "mention", "did"), 20)


def all_tags(record):
    tags = [tag.lstrip("#").lower() for tag in _features(record, "tag", "tag") + (record.get("tags") or [])]
    return _first([tag for tag in tags if 0 < len(tag.encode()) <= 640], 50)


def media(record):
    embed = record.get("embed") or {"$type": ""}
    return embed["media"] if embed["$type"] == "app.bsky.embed.recordWithMedia" else embed


def links(record):
    found = media(record)
    cards = [found["external"]["uri"]] if found["$type"] == "app.bsky.embed.external" else []
    return _first([uri for uri in _features(record, "link", "uri") + cards if len(uri.encode()) <= 2048], 50)


def link_host(uri):
    """The host of an http or https URL, or None."""
    web = re.match(r"https?://(?:[^/\\?#]*@)?(\[[^]]*\]|[^/\\?#:]*)", uri, re.IGNORECASE)
    if not web or not 0 < len(web.group(1).encode()) <= 253:
        return None
    return re.sub("[A-Z]", lambda letter: letter.group().lower(), web.group(1))


def link_hosts(record):
    hosts = [link_host(uri) for uri in links(record) or []]
    return _first([host for host in hosts if host], 50)


def images_without_alt(record):
    found = media(record)
    images = {"app.bsky.embed.images": found.get("images"), "app.bsky.embed.gallery": found.get("items")}
    alts = [image["alt"] for image in images.get(found["$type"]) or []
            if image.get("$type") in (None, "app.bsky.embed.images#image", "app.bsky.embed.gallery#image")]
    return alts.count("") if alts else None


def has_video(record):
    return media(record)["$type"] == "app.bsky.embed.video" or None


COLUMNS = {function.__name__: function
           for function in (mentions, all_tags, links, link_hosts, images_without_alt, has_video)}
