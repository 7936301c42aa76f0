#include "record_maker.hpp"

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "minimal_record.hpp"
#include "names.hpp"
#include "rich_text.hpp"
#include "theme.hpp"

namespace skua::sim {

using nlohmann::json;

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

/// Records that refer to another account or record.
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

/// Records that help others to find accounts: lists, starter packs, feeds.
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
  if (collection == Collection::starter_pack) {
    record["name"] = theme.make(Text::pack, random_);
    record["list"] = list_uri(author);
    if (!subjects_.feeds.empty() && random_.chance(0.5)) {
      record["feeds"] = json::array({{{"uri", random_.pick(subjects_.feeds.items()).uri}}});
    }
    return record;
  }
  if (random_.chance(0.5)) record["avatar"] = random_blob(random_, "image/jpeg", 900'000);
  if (collection == Collection::list) {
    record["name"] = theme.make(Text::list, random_);
    record["purpose"] =
        random_.chance(0.5) ? "app.bsky.graph.defs#curatelist" : "app.bsky.graph.defs#modlist";
    return record;
  }
  record["did"] = "did:web:" + random_domain(random_);
  record["displayName"] = theme.make(Text::feed, random_);
  if (random_.chance(0.3)) record["acceptsInteractions"] = random_.chance(0.5);
  if (random_.chance(0.2)) record["contentMode"] = "app.bsky.feed.defs#contentModeVideo";
  return record;
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

}  // namespace skua::sim
