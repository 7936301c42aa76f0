"""Changes of single rows behind Skua's back: a test shows with them that it notices a difference of each kind."""

# Columns of posts that become null, each in one post that the views show.
POST_COLUMNS = ("mentions", "all_tags", "links", "link_hosts", "images_without_alt", "has_video", "langs", "tags", "labels",
                "parent_actor", "quote_actor")
IS_FILLED = "nullif({0}::text, 'false') is not null"
# Parts of the JSON of posts, each with the column that becomes null.
POST_JSON = {
    **{f'[{{"features": [{{"$type": "app.bsky.richtext.facet#{kind}"}}]}}]': "facets"
       for kind in ("mention", "link", "tag")},
    **{f'{{"$type": "app.bsky.embed.{kind}"}}': "embed"
       for kind in ("images", "gallery", "video", "external", "record", "recordWithMedia")},
    '{"captions": []}': "embed",
}
# Views, each with the table that loses one of its rows.
VIEWS = {
    "like_pairs": "likes", "repost_pairs": "reposts", "feed_reposts": "reposts",
    "blocks_view": "blocks", "list_items_view": "list_items", "list_blocks_view": "list_blocks",
    "starter_packs_view": "starter_packs", "verifications_view": "verifications", "threadgates_view": "threadgates",
    "postgates_view": "postgates",
}
MUTUAL = "exists (select from bsky.follows f where (f.actor_id, f.subject_actor) = (v.subject_actor, v.actor_id))"
RULES = ("violates_threadgate", "violates_embedding_rules", "is_hidden", "has_invalid_root")
OTHER = """
update bsky.actor_stats set posts = posts + 1 where actor_id = (select min(id) from bsky.actors where active);
update bsky.tag_trends set posts = posts + 1
where (hour, tag) = (select hour, tag from bsky.tag_trends order by 1, 2 limit 1);
delete from bsky.notifications n using (
    select distinct on (v.reason) t.* from bsky.notifications t
    join bsky.notifications_view v using (recipient, actor_id, collection_id, rkey)
    order by v.reason, t.rkey) one
where (n.recipient, n.actor_id, n.collection_id, n.rkey) = (one.recipient, one.actor_id, one.collection_id, one.rkey);
update skua.change_log set ref_delta[1] = 1 - ref_delta[1]
where pos = (select min(pos) from skua.change_log where ref_delta <> '{}');
"""


def first(view, condition="true"):
    """The row with the lowest key. Account numbers differ between databases."""
    return f"(actor_id, rkey) = (select actor_id, rkey from bsky.{view} where {condition} order by rkey, actor_id limit 1)"


def change_each_kind(database):
    # The counts come first: a statement below may remove the row that shows them.
    statements = [f"update bsky.post_stats set likes = likes + 1 where {first('posts_view', 'likes > 0')}"]
    statements += [f"update bsky.post_rules set {rule} = false where {first('post_rules', rule)}" for rule in RULES]
    statements += [f"update bsky.posts set {column} = null where {first('posts_view', IS_FILLED.format(column))}"
                   for column in POST_COLUMNS]
    for part, column in POST_JSON.items():
        condition = f"{column} @> '{part}'"
        statements.append(f"update bsky.posts set {column} = null where {first('posts_view', condition)}")
    statements.append(f"update bsky.profiles set labels = null where {first('profiles_view', 'labels is not null')}")
    statements.append(f"delete from bsky.records where {first('records', 'invalid_reason is not null')}")
    statements.append(f"delete from bsky.follows where {first('follow_pairs v', MUTUAL)}")
    statements += [f"delete from bsky.{table} where {first(view)}" for view, table in VIEWS.items()]
    database.run(";\n".join(statements) + ";" + OTHER)
