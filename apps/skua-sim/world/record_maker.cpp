#include "world/record_maker.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "atproto/cid.hpp"
#include "atproto/data_model.hpp"
#include "event/json_event.hpp"
#include "records/record.hpp"
#include "repo/dag_cbor.hpp"
#include "world/language.hpp"
#include "world/rich_text.hpp"

namespace skua::sim {

namespace {

using nlohmann::json;

std::optional<std::string> fault_of(std::string_view nsid, std::string_view rkey,
                                    const json& record) {
  const auto block = event::json_to_dag_cbor(record);
  atproto::Document document;
  if (!block || !repo::read_dag_cbor(*block, document)) return "record: not DAG-CBOR";
  return records::decode_record(nsid, rkey, document).invalid_reason;
}

/// Converts a path such as `subject.uri` to the JSON pointer `/subject/uri`.
json::json_pointer pointer_to(std::string_view path) {
  std::string pointer = "/" + std::string(path);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return json::json_pointer(pointer);
}

/// Returns a value without a fault; nothing if the fault is unknown. `fault` has the words of the
/// record's invalid reason.
std::optional<json> value_without(std::string_view fault, Random& random, const Subjects& subjects,
                                  const StrongRef& post, Timestamp now) {
  if (fault == "missing" || fault == "must be a string") {
    return random_word(random);
  }
  if (fault == "must be an integer") return random.below(1'000);
  if (fault == "must be a boolean") return random.below(2) == 1;
  if (fault == "must be bytes") return json::binary({1, 2, 3});
  if (fault == "must be a list") return json::array();
  if (fault == "must be an object") return json::object();
  if (fault == "must be a blob") return random_blob(random, "image/jpeg", 900'000);
  if (fault == "not a datetime") return client_datetime(random, now);
  if (fault == "not a DID") return subjects.account(random);
  if (fault == "not a handle") return random_name(random) + ".test";
  if (fault == "not an AT-URI") return post.uri;
  if (fault == "not a CID") return post.cid;
  if (fault == "not a URI") return random_link(random);
  return std::nullopt;
}

}  // namespace

json make_minimal(Random& random, const Subjects& subjects, std::string_view nsid,
                  std::string_view rkey, Timestamp now) {
  // Each field needs a few corrections, and no lexicon requires so many fields that the limit is
  // reached.
  constexpr int kMaxCorrections = 200;
  const StrongRef post = subjects.post(random).post;
  json record = {{"$type", nsid}};
  for (int i = 0; i < kMaxCorrections; ++i) {
    const auto fault = fault_of(nsid, rkey, record);
    if (!fault) return record;
    const std::size_t colon = std::min(fault->find(": "), fault->size());
    const auto value =
        value_without(std::string_view(*fault).substr(std::min(colon + 2, fault->size())), random,
                      subjects, post, now);
    if (!value) throw std::logic_error(std::string(nsid) + ": " + *fault);
    record[pointer_to(std::string_view(*fault).substr(0, colon))] = *value;
  }
  throw std::logic_error(std::string(nsid) + ": requires too many fields");
}

namespace {

json aspect_ratio(Random& random) {
  return {{"width", random.between(300, 4000)}, {"height", random.between(300, 4000)}};
}

json images(Random& random, const Theme& theme) {
  json list = json::array();
  constexpr std::array kCounts = {0.7, 0.15, 0.05, 0.1};
  for (std::size_t left = random.weighted(kCounts) + 1; left > 0; --left) {
    const bool described = random.chance(0.4);
    json image = {{"image", random_blob(random, "image/jpeg", 1'000'000)},
                  {"alt", described ? theme.make(Text::alt, random) : ""}};
    if (random.chance(0.9)) image["aspectRatio"] = aspect_ratio(random);
    list.push_back(std::move(image));
  }
  return {{"$type", "app.bsky.embed.images"}, {"images", std::move(list)}};
}

json video(Random& random, const Theme& theme) {
  json embed = {{"$type", "app.bsky.embed.video"},
                {"video", random_blob(random, "video/mp4", 90'000'000)},
                {"aspectRatio", aspect_ratio(random)}};
  if (random.chance(0.4)) embed["alt"] = theme.make(Text::alt, random);
  if (random.chance(0.2)) {
    embed["captions"] = json::array(
        {{{"lang", theme.language->tag()}, {"file", random_blob(random, "text/vtt", 20'000)}}});
  }
  return embed;
}

json external(Random& random, const Theme& theme) {
  json card = {{"uri", random_link(random)},
               {"title", theme.make(Text::title, random)},
               {"description", random.chance(0.9) ? theme.make(Text::summary, random) : ""}};
  if (random.chance(0.8)) card["thumb"] = random_blob(random, "image/jpeg", 1'000'000);
  return {{"$type", "app.bsky.embed.external"}, {"external", std::move(card)}};
}

json media(Random& random, const Theme& theme) {
  constexpr std::array kShares = {0.7, 0.1, 0.2};
  switch (random.weighted(kShares)) {
    case 0:
      return images(random, theme);
    case 1:
      return video(random, theme);
    default:
      return external(random, theme);
  }
}

/// Returns a post or, sometimes, a list, a feed or a starter pack of the network.
StrongRef quotable(Random& random, const Subjects& subjects) {
  if (random.chance(0.1)) {
    for (const auto* recent : {&subjects.lists, &subjects.feeds, &subjects.starter_packs}) {
      if (!recent->empty() && random.chance(0.4)) return random.pick(recent->items());
    }
  }
  return subjects.post(random).post;
}

json embed(Random& random, const Subjects& subjects, const Theme& theme) {
  constexpr double kQuoteAlone = 0.25;
  constexpr double kQuoteWithMedia = 0.08;
  const double kind = random.unit();
  if (kind < kQuoteAlone) {
    return {{"$type", "app.bsky.embed.record"}, {"record", strong_ref(quotable(random, subjects))}};
  }
  if (kind < kQuoteAlone + kQuoteWithMedia) {
    const json record = {{"$type", "app.bsky.embed.record"},
                         {"record", strong_ref(quotable(random, subjects))}};
    return {{"$type", "app.bsky.embed.recordWithMedia"},
            {"record", record},
            {"media", media(random, theme)}};
  }
  return media(random, theme);
}

bool is_quote(const json& embed) {
  return embed.at("$type") == "app.bsky.embed.record";
}

/// Returns one sentence or, if it is not an answer or a comment, sometimes a few. The result has at
/// most 200 characters if no sentence has more than 100.
std::string sentences(Random& random, const Theme& theme, Text first) {
  constexpr std::size_t kLong = 100;
  std::string text = theme.make(first, random);
  while (first == Text::post && text.size() < kLong && random.chance(0.5)) {
    const std::string more = theme.make(Text::more, random);
    if (text.find(more) != std::string::npos) break;
    if (random.chance(0.15)) {
      text += random.chance(0.3) ? "\n\n" : "\n";
    } else {
      text += theme.language->space();
    }
    text += more;
  }
  if (random.chance(0.15)) text += " " + theme.make(Text::emoji, random);
  return text;
}

/// Returns a post to answer, if possible of a thread in this language.
KnownPost parent_for(Random& random, const Subjects& subjects, const Language& language) {
  constexpr int kTries = 6;
  KnownPost post = subjects.post(random);
  for (int i = 1; i < kTries; ++i) {
    if (theme_of_thread(post.root.uri).language == &language) break;
    post = subjects.post(random);
  }
  return post;
}

}  // namespace

namespace {

constexpr double kVia = 0.12;

json typed(Collection collection) {
  return {{"$type", nsid_of(collection)}};
}

}  // namespace

std::string client_datetime(Random& random, Timestamp now) {
  constexpr std::size_t kBeforeFraction = 19;
  constexpr std::size_t kMilliseconds = 23;
  std::string text = format_datetime(now - std::chrono::milliseconds(random.below(2'000)));
  const double form = random.unit();
  if (form < 0.88) return text.substr(0, kMilliseconds) + "Z";
  if (form < 0.94) return text;
  if (form < 0.97) return text.substr(0, kMilliseconds) + "+00:00";
  return text.substr(0, kBeforeFraction) + "Z";
}

json RecordMaker::make(Collection collection, const Account& author, const std::string& rkey,
                       Timestamp now) {
  switch (collection) {
    case Collection::post:
      return make_post(random_, subjects_, author.did, rkey, now);
    case Collection::like:
    case Collection::repost:
    case Collection::follow:
    case Collection::block:
    case Collection::list_item:
    case Collection::list_block:
    case Collection::verification:
      return subject_of(collection, author, now);
    case Collection::threadgate:
    case Collection::postgate:
      return gate(collection, author, rkey, now);
    case Collection::list:
    case Collection::starter_pack:
    case Collection::feed_generator:
      return curated(collection, author, now);
    case Collection::profile:
      return profile(author, now);
    case Collection::labeler:
      return labeler(now);
    case Collection::status:
    case Collection::chat_declaration:
    case Collection::notification_declaration:
    case Collection::germ_declaration:
      return declaration(collection, author, now);
    case Collection::reading_note:
    case Collection::garden_plot:
      return unknown(collection, author, now);
  }
  return make_minimal(random_, subjects_, nsid_of(collection), rkey, now);
}

std::string RecordMaker::list_uri(const Account& author) {
  const RecordKeys& own = author.keys_of(Collection::list);
  if (!own.empty()) {
    return "at://" + author.did + "/" + std::string(nsid_of(Collection::list)) + "/" +
           own.at(random_.below(own.size()));
  }
  if (!subjects_.lists.empty()) return random_.pick(subjects_.lists.items()).uri;
  return "at://" + subjects_.account(random_) + "/app.bsky.graph.list/3kwordlist2ab";
}

/// Makes the subject of records that refer to another account or record.
json RecordMaker::subject_of(Collection collection, const Account& author, Timestamp now) {
  json record = typed(collection);
  record["createdAt"] = client_datetime(random_, now);
  if (collection == Collection::like || collection == Collection::repost) {
    const bool of_feed =
        collection == Collection::like && !subjects_.feeds.empty() && random_.chance(0.004);
    record["subject"] =
        strong_ref(of_feed ? random_.pick(subjects_.feeds.items()) : subjects_.post(random_).post);
    if (!subjects_.reposts.empty() && random_.chance(kVia)) {
      record["via"] = strong_ref(random_.pick(subjects_.reposts.items()));
    }
    return record;
  }
  if (collection == Collection::list_block) {
    record["subject"] = list_uri(author);
    return record;
  }
  if (collection == Collection::verification) {
    const KnownAccount subject = subjects_.account_with_handle(random_);
    record["subject"] = subject.did;
    record["handle"] = subject.handle;
    record["displayName"] = display_name_of(subject.did);
    return record;
  }
  record["subject"] = subjects_.account(random_);
  if (collection == Collection::follow && !subjects_.starter_packs.empty() &&
      random_.chance(kVia)) {
    record["via"] = strong_ref(random_.pick(subjects_.starter_packs.items()));
  } else if (collection == Collection::list_item) {
    record["list"] = list_uri(author);
  }
  return record;
}

json RecordMaker::gate(Collection collection, const Account& author, const std::string& rkey,
                       Timestamp now) {
  json record = typed(collection);
  record["post"] = "at://" + author.did + "/app.bsky.feed.post/" + rkey;
  record["createdAt"] = client_datetime(random_, now);
  if (collection == Collection::postgate) {
    record["embeddingRules"] = json::array();
    if (random_.chance(0.7)) {
      record["embeddingRules"].push_back({{"$type", "app.bsky.feed.postgate#disableRule"}});
    }
    if (random_.chance(0.3)) {
      record["detachedEmbeddingUris"] = json::array({subjects_.post(random_).post.uri});
    }
    return record;
  }
  if (random_.chance(0.9)) {
    json rules = json::array();
    for (const char* rule : {"mentionRule", "followerRule", "followingRule"}) {
      if (random_.chance(0.35)) {
        rules.push_back({{"$type", std::string("app.bsky.feed.threadgate#") + rule}});
      }
    }
    if (random_.chance(0.2)) {
      rules.push_back({{"$type", "app.bsky.feed.threadgate#listRule"}, {"list", list_uri(author)}});
    }
    record["allow"] = std::move(rules);
  }
  if (random_.chance(0.3)) {
    json hidden = json::array();
    for (std::size_t left = random_.between(1, 4); left > 0; --left) {
      hidden.push_back(subjects_.post(random_).post.uri);
    }
    record["hiddenReplies"] = std::move(hidden);
  }
  return record;
}

/// Makes records that help accounts to be found: lists, starter packs, feeds.
json RecordMaker::curated(Collection collection, const Account& author, Timestamp now) {
  const Theme theme = random_theme(random_, author.did);
  json record = typed(collection);
  record["createdAt"] = client_datetime(random_, now);
  if (random_.chance(0.7)) {
    const RichText text =
        random_rich_text(random_, subjects_, theme, theme.make(Text::about, random_));
    record["description"] = text.text();
    if (!text.facets().empty()) record["descriptionFacets"] = text.facets();
  }
  if (collection == Collection::starter_pack) complete_starter_pack(record, theme, author);
  if (collection == Collection::list) complete_list(record, theme);
  if (collection == Collection::feed_generator) complete_feed(record, theme);
  return record;
}

void RecordMaker::complete_starter_pack(json& record, const Theme& theme, const Account& author) {
  record["name"] = theme.make(Text::pack, random_);
  record["list"] = list_uri(author);
  if (!subjects_.feeds.empty() && random_.chance(0.5)) {
    record["feeds"] = json::array({{{"uri", random_.pick(subjects_.feeds.items()).uri}}});
  }
}

void RecordMaker::complete_list(json& record, const Theme& theme) {
  if (random_.chance(0.5)) record["avatar"] = random_blob(random_, "image/jpeg", 900'000);
  record["name"] = theme.make(Text::list, random_);
  record["purpose"] =
      random_.chance(0.5) ? "app.bsky.graph.defs#curatelist" : "app.bsky.graph.defs#modlist";
}

void RecordMaker::complete_feed(json& record, const Theme& theme) {
  if (random_.chance(0.5)) record["avatar"] = random_blob(random_, "image/jpeg", 900'000);
  record["did"] = "did:web:" + random_domain(random_);
  record["displayName"] = theme.make(Text::feed, random_);
  if (random_.chance(0.3)) record["acceptsInteractions"] = random_.chance(0.5);
  if (random_.chance(0.2)) record["contentMode"] = "app.bsky.feed.defs#contentModeVideo";
}

json RecordMaker::declaration(Collection collection, const Account& author, Timestamp now) {
  constexpr std::array<std::string_view, 3> kWhoMayChat = {"all", "none", "following"};
  constexpr std::array<std::string_view, 3> kWhoMaySubscribe = {"followers", "mutuals", "none"};
  json record = typed(collection);
  if (collection == Collection::chat_declaration) {
    record["allowIncoming"] = random_.pick(kWhoMayChat);
  } else if (collection == Collection::notification_declaration) {
    record["allowSubscriptions"] = random_.pick(kWhoMaySubscribe);
  } else if (collection == Collection::germ_declaration) {
    const atproto::Digest key = derive(random_.next(), "germ", 0);
    record["version"] = "1.1.0";
    record["currentKey"] = json::binary({key.begin(), key.end()});
  } else {
    record["status"] = "app.bsky.actor.status#live";
    record["durationMinutes"] = random_.between(5, 240);
    record["createdAt"] = client_datetime(random_, now);
    const json card = {{"uri", random_link(random_)},
                       {"title", random_theme(random_, author.did).make(Text::title, random_)},
                       {"description", ""}};
    record["embed"] = {{"$type", "app.bsky.embed.external"}, {"external", card}};
  }
  return record;
}

json RecordMaker::profile(const Account& author, Timestamp now) {
  const Theme theme = theme_of_account(author.did);
  json record = typed(Collection::profile);
  record["displayName"] =
      random_.chance(0.8) ? display_name_of(author.did) : theme.make(Text::name, random_);
  if (random_.chance(0.8)) record["description"] = theme.make(Text::biography, random_);
  if (random_.chance(0.1)) record["pronouns"] = "they/them";
  if (random_.chance(0.1)) record["website"] = random_link(random_);
  if (random_.chance(0.7)) record["avatar"] = random_blob(random_, "image/jpeg", 900'000);
  if (random_.chance(0.4)) record["banner"] = random_blob(random_, "image/jpeg", 900'000);
  if (random_.chance(0.3)) {
    const KnownPost pinned = subjects_.post(random_);
    const bool own = pinned.post.uri.starts_with("at://" + author.did + "/");
    if (own || random_.chance(0.5)) record["pinnedPost"] = strong_ref(pinned.post);
  }
  if (!subjects_.starter_packs.empty() && random_.chance(0.2)) {
    record["joinedViaStarterPack"] = strong_ref(random_.pick(subjects_.starter_packs.items()));
  }
  if (random_.chance(0.9)) record["createdAt"] = client_datetime(random_, now);
  return record;
}

json RecordMaker::labeler(Timestamp now) {
  const std::string value = random_label(random_);
  const json locale = {{"lang", "en"},
                       {"name", value},
                       {"description", "Posts and accounts that are " + value + "."}};
  const json definition = {{"identifier", value},
                           {"severity", "inform"},
                           {"blurs", "none"},
                           {"defaultSetting", "warn"},
                           {"locales", json::array({locale})}};
  json record = typed(Collection::labeler);
  record["policies"] = {{"labelValues", json::array({value, "spam"})},
                        {"labelValueDefinitions", json::array({definition})}};
  record["createdAt"] = client_datetime(random_, now);
  if (random_.chance(0.5)) record["subjectTypes"] = json::array({"account", "record"});
  return record;
}

json RecordMaker::unknown(Collection collection, const Account& author, Timestamp now) {
  const Theme theme = random_theme(random_, author.did);
  json record = typed(collection);
  if (collection == Collection::reading_note) {
    record["book"] = {{"title", theme.make(Text::book, random_)},
                      {"pages", random_.between(40, 900)}};
    record["note"] = theme.make(Text::note, random_);
    record["finished"] = random_.chance(0.3);
  } else {
    json rows = json::array();
    for (std::size_t left = random_.between(1, 6); left > 0; --left) {
      rows.push_back({{"plant", theme.make(Text::plant, random_)},
                      {"depth", random_.between(1, 40)},
                      {"neighbour", nullptr}});
    }
    record["rows"] = std::move(rows);
    record["photo"] = random_blob(random_, "image/webp", 500'000);
  }
  record["createdAt"] = client_datetime(random_, now);
  return record;
}

json make_post(Random& random, const Subjects& subjects, const std::string& did,
               const std::string& rkey, Timestamp now) {
  json post = {{"$type", "app.bsky.feed.post"}, {"createdAt", client_datetime(random, now)}};
  std::string root = "at://" + did + "/app.bsky.feed.post/" + rkey;
  const bool is_reply = random.chance(0.5);
  if (is_reply) {
    const KnownPost parent = parent_for(random, subjects, language_of_account(did));
    root = parent.root.uri;
    post["reply"] = {{"root", strong_ref(parent.root)}, {"parent", strong_ref(parent.post)}};
  }
  const Theme theme = theme_of_thread(root);
  const std::string& tag = theme.language->tag();
  const bool has_embed = random.chance(0.45);
  if (has_embed) post["embed"] = embed(random, subjects, theme);
  if (has_embed && random.chance(0.08)) {
    post["text"] = "";
  } else {
    const bool comments = has_embed && is_quote(post["embed"]) && random.chance(0.6);
    const Text kind = comments ? Text::quote : is_reply ? Text::reply : Text::post;
    const RichText text = random_rich_text(random, subjects, theme, sentences(random, theme, kind));
    post["text"] = text.text();
    if (!text.facets().empty()) post["facets"] = text.facets();
  }
  if (random.chance(0.85)) post["langs"] = json::array({tag});
  if (random.chance(0.03)) post["langs"] = json::array({tag, "en"});
  if (random.chance(0.02)) post["tags"] = json::array({theme.hashtag(), random_word(random)});
  if (random.chance(0.02)) {
    post["labels"] = {{"$type", "com.atproto.label.defs#selfLabels"},
                      {"values", json::array({{{"val", "sexual"}}})}};
  }
  return post;
}

json random_blob(Random& random, const std::string& mime_type, std::size_t max_size) {
  const atproto::Cid cid{atproto::Cid::kRaw, derive(random.next(), "blob", 0)};
  return {{"$type", "blob"},
          {"ref", {{"$link", cid.to_string()}}},
          {"mimeType", mime_type},
          {"size", random.between(1, max_size)}};
}

json strong_ref(const StrongRef& ref) {
  return {{"uri", ref.uri}, {"cid", ref.cid}};
}

}  // namespace skua::sim
