#include <array>
#include <utility>

#include "atproto/cid.hpp"
#include "names.hpp"
#include "record_maker.hpp"
#include "rich_text.hpp"
#include "theme.hpp"

namespace skua::sim {
namespace {

using nlohmann::json;

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

/// A post, or sometimes a list, a feed or a starter pack of the network.
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

/// One sentence, or a few if it is not an answer or a comment. At most 200 characters, if no
/// sentence has more than 100.
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

/// A post to answer, if possible of a thread in this language.
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
