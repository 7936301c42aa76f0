#include "writer/table_samples.hpp"

#include "atproto/cid.hpp"

namespace skua::test {
namespace {

using nlohmann::json;

constexpr const char* kSampleCreatedAt = "2026-01-02T03:04:05.678Z";
constexpr const char* kKey = "3l2s5xxv2ze2c";

std::string cid_of(const std::string& text, std::uint8_t codec = atproto::Cid::kDagCbor) {
  return atproto::Cid::of(as_bytes(text), codec).to_string();
}

json strong_ref(const std::string& uri) {
  return {{"uri", uri}, {"cid", cid_of(uri)}};
}

/// The expression that gives a reference back as `uri cid`.
std::string reference(const std::string& prefix, const std::string& collection, bool with_cid) {
  std::string text = "bsky.uri(t." + prefix + "_actor, " + collection + ", t." + prefix + "_rkey)";
  if (with_cid) text = "concat_ws(' ', " + text + ", bsky.cid_text(t." + prefix + "_cid))";
  return text;
}

std::string concat(const std::vector<std::string>& expressions) {
  std::string text = "concat_ws('|'";
  for (const auto& expression : expressions) text += ", " + expression;
  return text + ")";
}

std::string did_of(const std::string& column) {
  return "(SELECT did FROM bsky.actors WHERE id = t." + column + ")";
}

json blob(const std::string& content) {
  return {{"$type", "blob"},
          {"ref", {{"$link", cid_of(content, atproto::Cid::kRaw)}}},
          {"mimeType", "image/png"},
          {"size", 10}};
}

json labels(const std::string& value) {
  return {{"$type", "com.atproto.label.defs#selfLabels"},
          {"values", json::array({{{"val", value}}})}};
}

json facets() {
  return json::array(
      {{{"index", {{"byteStart", 0}, {"byteEnd", 4}}},
        {"features", json::array({{{"$type", "app.bsky.richtext.facet#tag"}, {"tag", "skua"}}})}}});
}

const std::string kPostUri = "at://did:plc:other/app.bsky.feed.post/3l2s5xxv2ze2d";
const std::string kRootUri = "at://did:plc:root/app.bsky.feed.post/3l2s5xxv2ze2e";
const std::string kRepostUri = "at://did:plc:other/app.bsky.feed.repost/3l2s5xxv2ze2f";
const std::string kListUri = "at://did:plc:other/app.bsky.graph.list/3l2s5xxv2ze2g";
const std::string kFeedUri = "at://did:plc:other/app.bsky.feed.generator/whats-hot";
const std::string kPackUri = "at://did:plc:other/app.bsky.graph.starterpack/3l2s5xxv2ze2h";

std::string with_cid(const std::string& uri) {
  return uri + " " + cid_of(uri);
}

std::vector<TableSample> feed_samples() {
  const std::string post_uri = std::string("at://did:plc:author/app.bsky.feed.post/") + kKey;
  return {
      {"posts",
       "app.bsky.feed.post",
       kKey,
       {{"text", "#skua \"quoted\" \\ {x}"},
        {"langs", {"en", "pt-BR"}},
        {"tags", {"a,b", "c\"d"}},
        {"labels", labels("nudity")},
        {"facets", facets()},
        {"reply", {{"parent", strong_ref(kPostUri)}, {"root", strong_ref(kRootUri)}}},
        {"embed", {{"$type", "app.bsky.embed.record"}, {"record", strong_ref(kFeedUri)}}}},
       concat({"t.text", "t.langs", "t.tags", "t.labels",
               "t.facets -> 0 -> 'features' -> 0 ->> 'tag'", "t.embed ->> '$type'",
               reference("parent", "1", true), reference("root", "1", true),
               reference("quote", "t.quote_collection", true), "t.is_deleted"}),
       "#skua \"quoted\" \\ "
       "{x}|{en,pt-BR}|{\"a,b\",\"c\\\"d\"}|{nudity}|skua|app.bsky.embed.record|" +
           with_cid(kPostUri) + "|" + with_cid(kRootUri) + "|" + with_cid(kFeedUri) + "|f"},
      {"likes",
       "app.bsky.feed.like",
       kKey,
       {{"subject", strong_ref(kFeedUri)}, {"via", strong_ref(kRepostUri)}},
       concat({reference("subject", "t.subject_collection", true), reference("via", "3", true)}),
       with_cid(kFeedUri) + "|" + with_cid(kRepostUri)},
      {"reposts",
       "app.bsky.feed.repost",
       kKey,
       {{"subject", strong_ref(kPostUri)}, {"via", strong_ref(kRepostUri)}},
       concat({reference("subject", "t.subject_collection", true), reference("via", "3", true)}),
       with_cid(kPostUri) + "|" + with_cid(kRepostUri)},
      {"threadgates",
       "app.bsky.feed.threadgate",
       kKey,
       {{"post", post_uri},
        {"allow",
         json::array({{{"$type", "app.bsky.feed.threadgate#mentionRule"}},
                      {{"$type", "app.bsky.feed.threadgate#followingRule"}},
                      {{"$type", "app.bsky.feed.threadgate#listRule"}, {"list", kListUri}}})},
        {"hiddenReplies", {kPostUri}}},
       concat({reference("post", "1", false), "t.is_restricted", "t.allow_mentioned",
               "t.allow_following", "t.allow_followers", "t.allow_lists", "t.hidden_replies"}),
       post_uri + "|t|t|t|f|{" + kListUri + "}|{" + kPostUri + "}"},
      {"postgates",
       "app.bsky.feed.postgate",
       kKey,
       {{"post", post_uri},
        {"detachedEmbeddingUris", {kPostUri}},
        {"embeddingRules", json::array({{{"$type", "app.bsky.feed.postgate#disableRule"}}})}},
       concat({reference("post", "1", false), "t.embedding_disabled", "t.detached_uris"}),
       post_uri + "|t|{" + kPostUri + "}"},
      {"feed_generators",
       "app.bsky.feed.generator",
       "whats-hot",
       {{"did", "did:web:feed.test"},
        {"displayName", "Hot"},
        {"description", "#all"},
        {"descriptionFacets", facets()},
        {"avatar", blob("avatar")},
        {"acceptsInteractions", true},
        {"contentMode", "app.bsky.feed.defs#contentModeVideo"},
        {"labels", labels("x")}},
       concat({"t.service_did", "t.display_name", "t.description",
               "jsonb_array_length(t.description_facets)", "t.avatar_cid", "t.accepts_interactions",
               "t.content_mode", "t.labels"}),
       "did:web:feed.test|Hot|#all|1|" + cid_of("avatar", atproto::Cid::kRaw) +
           "|t|app.bsky.feed.defs#contentModeVideo|{x}"},
  };
}

std::vector<TableSample> graph_samples() {
  return {
      {"follows",
       "app.bsky.graph.follow",
       kKey,
       {{"subject", "did:plc:other"}, {"via", strong_ref(kPackUri)}},
       concat({did_of("subject_actor"), reference("via", "t.via_collection", true)}),
       "did:plc:other|" + with_cid(kPackUri)},
      {"blocks",
       "app.bsky.graph.block",
       kKey,
       {{"subject", "did:plc:other"}},
       did_of("subject_actor"),
       "did:plc:other"},
      {"lists",
       "app.bsky.graph.list",
       kKey,
       {{"purpose", "app.bsky.graph.defs#modlist"},
        {"name", "Names"},
        {"description", "Words"},
        {"descriptionFacets", facets()},
        {"avatar", blob("avatar")},
        {"labels", labels("x")}},
       concat({"t.purpose", "t.name", "t.description", "jsonb_array_length(t.description_facets)",
               "t.avatar_cid", "t.labels"}),
       "app.bsky.graph.defs#modlist|Names|Words|1|" + cid_of("avatar", atproto::Cid::kRaw) +
           "|{x}"},
      {"list_items",
       "app.bsky.graph.listitem",
       kKey,
       {{"subject", "did:plc:member"}, {"list", kListUri}},
       concat({did_of("subject_actor"), reference("list", "9", false)}),
       "did:plc:member|" + kListUri},
      {"list_blocks",
       "app.bsky.graph.listblock",
       kKey,
       {{"subject", kListUri}},
       reference("list", "9", false),
       kListUri},
      {"starter_packs",
       "app.bsky.graph.starterpack",
       kKey,
       {{"name", "Pack"},
        {"description", "Words"},
        {"descriptionFacets", facets()},
        {"list", kListUri},
        {"feeds", json::array({{{"uri", kFeedUri}}})}},
       concat({"t.name", "t.description", "jsonb_array_length(t.description_facets)",
               reference("list", "9", false), "t.feeds"}),
       "Pack|Words|1|" + kListUri + "|{" + kFeedUri + "}"},
      {"verifications",
       "app.bsky.graph.verification",
       kKey,
       {{"subject", "did:plc:other"}, {"handle", "other.test"}, {"displayName", "Other"}},
       concat({did_of("subject_actor"), "t.handle", "t.display_name"}),
       "did:plc:other|other.test|Other"},
  };
}

std::vector<TableSample> account_samples() {
  return {
      {"profiles",
       "app.bsky.actor.profile",
       "self",
       {{"displayName", "Name"},
        {"description", "Words"},
        {"pronouns", "they"},
        {"website", "https://a.test"},
        {"avatar", blob("avatar")},
        {"banner", blob("banner")},
        {"labels", labels("!no-unauthenticated")},
        {"pinnedPost", strong_ref(kPostUri)},
        {"joinedViaStarterPack", strong_ref(kPackUri)}},
       concat({"t.display_name", "t.description", "t.pronouns", "t.website", "t.avatar_cid",
               "t.banner_cid", "t.labels", reference("pinned", "1", true),
               reference("joined_via", "12", true)}),
       "Name|Words|they|https://a.test|" + cid_of("avatar", atproto::Cid::kRaw) + "|" +
           cid_of("banner", atproto::Cid::kRaw) + "|{!no-unauthenticated}|" + with_cid(kPostUri) +
           "|" + with_cid(kPackUri)},
      {"statuses",
       "app.bsky.actor.status",
       "self",
       {{"status", "app.bsky.actor.status#live"},
        {"embed",
         {{"$type", "app.bsky.embed.external"},
          {"external", {{"uri", "https://a.test"}, {"title", "T"}, {"description", "D"}}}}},
        {"durationMinutes", 30}},
       concat({"t.status", "t.embed -> 'external' ->> 'uri'", "t.duration_minutes"}),
       "app.bsky.actor.status#live|https://a.test|30"},
      {"chat_declarations",
       "chat.bsky.actor.declaration",
       "self",
       {{"allowIncoming", "following"}},
       "t.allow_incoming",
       "following",
       false},
      {"notification_declarations",
       "app.bsky.notification.declaration",
       "self",
       {{"allowSubscriptions", "mutuals"}},
       "t.allow_subscriptions",
       "mutuals",
       false},
      {"germ_declarations",
       "com.germnetwork.declaration",
       "self",
       {{"version", "1.0"}, {"currentKey", {{"$bytes", "AAEC"}}}},
       concat({"t.version", "t.current_key"}),
       "1.0|\\x000102",
       false},
      {"labelers",
       "app.bsky.labeler.service",
       "self",
       {{"policies", {{"labelValues", {"spam"}}}},
        {"labels", labels("x")},
        {"reasonTypes", {"com.atproto.moderation.defs#reasonSpam"}},
        {"subjectTypes", {"record"}},
        {"subjectCollections", {"app.bsky.feed.post"}}},
       concat({"t.policies -> 'labelValues' ->> 0", "t.labels", "t.reason_types", "t.subject_types",
               "t.subject_collections"}),
       "spam|{x}|{com.atproto.moderation.defs#reasonSpam}|{record}|{app.bsky.feed.post}"},
  };
}

}  // namespace

const std::vector<TableSample>& table_samples() {
  static const auto kSamples = [] {
    std::vector<TableSample> samples = feed_samples();
    for (auto&& more : {graph_samples(), account_samples()}) {
      samples.insert(samples.end(), more.begin(), more.end());
    }
    for (TableSample& sample : samples) {
      sample.record["$type"] = sample.collection;
      if (sample.has_created_at) sample.record["createdAt"] = kSampleCreatedAt;
      sample.record["zzNew"] = "not known";
    }
    return samples;
  }();
  return kSamples;
}

}  // namespace skua::test
