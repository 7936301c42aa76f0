#include <array>
#include <utility>

#include "atproto/cid.hpp"
#include "record_maker.hpp"
#include "rich_text.hpp"
#include "words.hpp"

namespace skua::sim {
namespace {

using nlohmann::json;

json aspect_ratio(Random& random) {
  return {{"width", random.between(300, 4000)}, {"height", random.between(300, 4000)}};
}

json images(Random& random, Script script) {
  json list = json::array();
  constexpr std::array kCounts = {0.7, 0.15, 0.05, 0.1};
  for (std::size_t left = random.weighted(kCounts) + 1; left > 0; --left) {
    const bool described = random.chance(0.4);
    json image = {{"image", random_blob(random, "image/jpeg", 1'000'000)},
                  {"alt", described ? random_text(random, script, random.between(20, 300)) : ""}};
    if (random.chance(0.9)) image["aspectRatio"] = aspect_ratio(random);
    list.push_back(std::move(image));
  }
  return {{"$type", "app.bsky.embed.images"}, {"images", std::move(list)}};
}

json video(Random& random, Script script) {
  json embed = {{"$type", "app.bsky.embed.video"},
                {"video", random_blob(random, "video/mp4", 90'000'000)},
                {"aspectRatio", aspect_ratio(random)}};
  if (random.chance(0.4)) embed["alt"] = random_text(random, script, random.between(10, 120));
  if (random.chance(0.2)) {
    embed["captions"] = json::array(
        {{{"lang", language_of(script)}, {"file", random_blob(random, "text/vtt", 20'000)}}});
  }
  return embed;
}

json external(Random& random, Script script) {
  json card = {{"uri", random_link(random)},
               {"title", random_text(random, script, random.between(10, 90))},
               {"description", random_text(random, script, random.between(0, 250))}};
  if (random.chance(0.8)) card["thumb"] = random_blob(random, "image/jpeg", 1'000'000);
  return {{"$type", "app.bsky.embed.external"}, {"external", std::move(card)}};
}

json media(Random& random, Script script) {
  constexpr std::array kShares = {0.7, 0.1, 0.2};
  switch (random.weighted(kShares)) {
    case 0:
      return images(random, script);
    case 1:
      return video(random, script);
    default:
      return external(random, script);
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

json embed(Random& random, const Subjects& subjects, Script script) {
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
            {"media", media(random, script)}};
  }
  return media(random, script);
}

/// The size in bytes of a text with at most 230 characters; short texts are the most frequent.
std::size_t text_size(Random& random, Script script) {
  const std::size_t bytes_a_character = script == Script::japanese ? 3 : 1;
  const double length = 6 + 220 * random.unit() * random.unit();
  return static_cast<std::size_t>(length) * bytes_a_character;
}

}  // namespace

json make_post(Random& random, const Subjects& subjects, Timestamp now) {
  const Script script = random_script(random);
  const bool has_embed = random.chance(0.45);
  json post = {{"$type", "app.bsky.feed.post"}, {"createdAt", client_datetime(random, now)}};
  if (has_embed && random.chance(0.08)) {
    post["text"] = "";
  } else {
    const RichText text = random_rich_text(random, subjects, script, text_size(random, script));
    post["text"] = text.text();
    if (!text.facets().empty()) post["facets"] = text.facets();
  }
  if (random.chance(0.85)) post["langs"] = json::array({language_of(script)});
  if (random.chance(0.03)) post["langs"] = json::array({language_of(script), "en"});
  if (random.chance(0.02)) {
    post["tags"] = json::array({random_word(random, script), random_word(random, Script::latin)});
  }
  if (random.chance(0.5)) {
    const KnownPost parent = subjects.post(random);
    post["reply"] = {{"root", strong_ref(parent.root)}, {"parent", strong_ref(parent.post)}};
  }
  if (has_embed) post["embed"] = embed(random, subjects, script);
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
