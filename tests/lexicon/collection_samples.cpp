#include "lexicon/collection_samples.hpp"

#include <cstddef>

namespace skua::test {
namespace {

const std::string kPost = "app.bsky.feed.post";
const std::string kVisibility = "app.bsky.actor.contentVisibilityDeclaration";

/// As many grapheme clusters, each of ten bytes.
std::string full_text(std::size_t graphemes) {
  return repeated("é\u0301\u0301\u0301\u0301", graphemes);
}

json times(std::size_t count, const json& item) {
  return json(std::vector<json>(count, item));
}

json labels() {
  return {{"$type", "com.atproto.label.defs#selfLabels"},
          {"values", times(10, {{"val", repeated("a", 128)}})}};
}

json facets() {
  const json features = {{{"$type", "app.bsky.richtext.facet#tag"}, {"tag", full_text(64)}},
                         {{"$type", "app.bsky.richtext.facet#mention"}, {"did", kDid}},
                         {{"$type", "app.bsky.richtext.facet#link"}, {"uri", "https://a.example"}},
                         {{"$type", "com.example.bold"}}};
  return {{{"index", {{"byteStart", 0}, {"byteEnd", 0}}}, {"features", features}}};
}

json images() {
  const json image = {{"image", blob("image/webp", 2'000'000)},
                      {"alt", ""},
                      {"aspectRatio", {{"width", 1}, {"height", 1}}}};
  return {{"$type", "app.bsky.embed.images"}, {"images", times(4, image)}};
}

json post() {
  const json quote = {{"record", strong_ref()}};
  return {{"text", full_text(300)},
          {"langs", {"en", "pt-BR", "zh-Hant"}},
          {"tags", times(8, full_text(64))},
          {"labels", labels()},
          {"facets", facets()},
          {"entities", {{{"index", {{"start", 0}, {"end", 0}}}, {"type", ""}, {"value", ""}}}},
          {"reply", {{"root", strong_ref()}, {"parent", strong_ref()}}},
          {"embed",
           {{"$type", "app.bsky.embed.recordWithMedia"}, {"record", quote}, {"media", images()}}},
          {"createdAt", kTime}};
}

json labeler() {
  const json locale = {{"lang", "en"}, {"name", full_text(64)}, {"description", full_text(10'000)}};
  const json definition = {
      {"identifier", repeated("a", 100)}, {"severity", "inform"}, {"blurs", "none"},
      {"defaultSetting", "warn"},         {"adultOnly", false},   {"locales", {locale}}};
  return {{"policies", {{"labelValues", {"a"}}, {"labelValueDefinitions", {definition}}}},
          {"labels", labels()},
          {"reasonTypes", {"com.atproto.moderation.defs#reasonSpam"}},
          {"subjectTypes", {"account"}},
          {"subjectCollections", {kPost}},
          {"createdAt", kTime}};
}

json avatar() {
  return blob("image/jpeg", 1'000'000);
}

}  // namespace

json caption(const std::string& language, std::int64_t size) {
  return {{"lang", language}, {"file", blob("text/vtt", size)}};
}

json video(const std::string& mime_type, std::int64_t size) {
  return {{"$type", "app.bsky.embed.video"},
          {"video", blob(mime_type, size)},
          {"captions", times(20, caption("en"))}};
}

json gallery(std::size_t images) {
  return {{"$type", "app.bsky.embed.gallery"},
          {"items", times(images, {{"$type", "app.bsky.embed.gallery#image"},
                                   {"image", blob("image/png", 2'000'000)},
                                   {"alt", ""},
                                   {"aspectRatio", {{"width", 1}, {"height", 1}}}})}};
}

json external(const json& thumb) {
  return {{"$type", "app.bsky.embed.external"},
          {"external",
           {{"uri", "https://a.example"},
            {"title", ""},
            {"description", ""},
            {"thumb", thumb},
            {"associatedRefs", {strong_ref()}}}}};
}

std::vector<CollectionRecord> collection_samples() {
  const json subject = {{"subject", strong_ref()}, {"via", strong_ref()}, {"createdAt", kTime}};
  const json mention = {{"$type", "app.bsky.feed.threadgate#mentionRule"}};
  const json list_rule = {{"$type", "app.bsky.feed.threadgate#listRule"}, {"list", kUri}};
  const json unknown_rule = {{"$type", "com.example.rule"}};
  const json disable = {{"$type", "app.bsky.feed.postgate#disableRule"}};
  return {
      {kPost, post()},
      {"app.bsky.feed.like", subject},
      {"app.bsky.feed.repost", subject},
      {"app.bsky.feed.threadgate",
       {{"post", kUri},
        {"allow", {list_rule, mention, mention, list_rule, unknown_rule}},
        {"hiddenReplies", times(300, kUri)},
        {"createdAt", kTime}}},
      {"app.bsky.feed.postgate",
       {{"post", kUri},
        {"embeddingRules", times(5, disable)},
        {"detachedEmbeddingUris", times(50, kUri)},
        {"createdAt", kTime}}},
      {"app.bsky.feed.generator",
       {{"did", kDid},
        {"displayName", full_text(24)},
        {"description", full_text(300)},
        {"descriptionFacets", facets()},
        {"avatar", avatar()},
        {"acceptsInteractions", true},
        {"contentMode", "app.bsky.feed.defs#contentModeVideo"},
        {"labels", labels()},
        {"createdAt", kTime}}},
      {"app.bsky.graph.follow", {{"subject", kDid}, {"via", strong_ref()}, {"createdAt", kTime}}},
      {"app.bsky.graph.block", {{"subject", kDid}, {"createdAt", kTime}}},
      {"app.bsky.graph.list",
       {{"name", repeated("a", 64)},
        {"purpose", "app.bsky.graph.defs#modlist"},
        {"description", full_text(300)},
        {"descriptionFacets", facets()},
        {"avatar", avatar()},
        {"labels", labels()},
        {"createdAt", kTime}}},
      {"app.bsky.graph.listitem", {{"subject", kDid}, {"list", kUri}, {"createdAt", kTime}}},
      {"app.bsky.graph.listblock", {{"subject", kUri}, {"createdAt", kTime}}},
      {"app.bsky.graph.starterpack",
       {{"name", full_text(50)},
        {"description", full_text(300)},
        {"descriptionFacets", facets()},
        {"list", kUri},
        {"feeds", times(3, {{"uri", kUri}})},
        {"createdAt", kTime}}},
      {"app.bsky.graph.verification",
       {{"subject", kDid}, {"handle", "alice.example"}, {"displayName", ""}, {"createdAt", kTime}}},
      {"app.bsky.actor.profile",
       {{"displayName", full_text(64)},
        {"description", full_text(256)},
        {"pronouns", full_text(20)},
        {"website", "https://a.example"},
        {"avatar", avatar()},
        {"banner", avatar()},
        {"labels", labels()},
        {"pinnedPost", strong_ref()},
        {"joinedViaStarterPack", strong_ref()},
        {"createdAt", kTime}}},
      {"app.bsky.actor.status",
       {{"status", "app.bsky.actor.status#live"},
        {"durationMinutes", 1},
        {"embed", external(blob("image/png", 1'000'000))},
        {"createdAt", kTime}}},
      {"chat.bsky.actor.declaration", {{"allowIncoming", "all"}}},
      {"app.bsky.notification.declaration", {{"allowSubscriptions", "followers"}}},
      {"com.germnetwork.declaration",
       {{"version", "1"}, {"currentKey", {{"$bytes", "AQID"}}}, {"messageMe", {{"a", 1}}}}},
      {"app.bsky.labeler.service", labeler()},
      {kVisibility, {{"hideFromAlgorithmicRecommendations", true}}}};
}

std::vector<std::string> required_fields(const std::string& collection) {
  if (collection == kPost) return {"text", "createdAt"};
  if (collection == "app.bsky.feed.threadgate" || collection == "app.bsky.feed.postgate") {
    return {"post", "createdAt"};
  }
  if (collection == "app.bsky.feed.generator") return {"did", "displayName", "createdAt"};
  if (collection == "app.bsky.graph.list") return {"name", "purpose", "createdAt"};
  if (collection == "app.bsky.graph.listitem") return {"subject", "list", "createdAt"};
  if (collection == "app.bsky.graph.starterpack") return {"name", "list", "createdAt"};
  if (collection == "app.bsky.graph.verification") {
    return {"subject", "handle", "displayName", "createdAt"};
  }
  if (collection == "app.bsky.actor.profile") return {};
  if (collection == "app.bsky.actor.status") return {"status", "createdAt"};
  if (collection == "chat.bsky.actor.declaration") return {"allowIncoming"};
  if (collection == "app.bsky.notification.declaration") return {"allowSubscriptions"};
  if (collection == "com.germnetwork.declaration") return {"version", "currentKey"};
  if (collection == kVisibility) return {"hideFromAlgorithmicRecommendations"};
  if (collection == "app.bsky.labeler.service") return {"policies", "createdAt"};
  return {"subject", "createdAt"};
}

}  // namespace skua::test
