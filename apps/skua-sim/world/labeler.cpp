#include "world/labeler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "repo/dag_cbor.hpp"

namespace skua::sim {

namespace {

using repo::CborWriter;

constexpr std::array<std::pair<std::string_view, LabelFlaw>, 9> kFlaws = {{
    {"signature", LabelFlaw::signature},
    {"no-signature", LabelFlaw::no_signature},
    {"ver", LabelFlaw::ver},
    {"src", LabelFlaw::src},
    {"uri", LabelFlaw::uri},
    {"cid", LabelFlaw::cid},
    {"val", LabelFlaw::val},
    {"cts", LabelFlaw::cts},
    {"exp", LabelFlaw::exp},
}};

/// Returns the DAG-CBOR of a label. All keys have three letters and are in the order of their
/// bytes. Without a signature the result is the signed content.
Bytes label_bytes(const Label& label, ByteView signature) {
  Bytes bytes;
  CborWriter cbor(bytes);
  constexpr std::size_t kAlways = 4;
  cbor.map(kAlways + (label.ver ? 1 : 0) + (label.cid ? 1 : 0) + (label.neg ? 1 : 0) +
           (label.exp ? 1 : 0) + (signature.empty() ? 0 : 1));
  const auto text = [&cbor](std::string_view key, std::string_view value) {
    cbor.string(key);
    cbor.string(value);
  };
  if (label.cid) text("cid", *label.cid);
  text("cts", label.cts);
  if (label.exp) text("exp", *label.exp);
  if (label.neg) {
    cbor.string("neg");
    cbor.boolean(*label.neg);
  }
  if (!signature.empty()) {
    cbor.string("sig");
    cbor.bytes(signature);
  }
  text("src", label.src);
  text("uri", label.uri);
  text("val", label.val);
  if (label.ver) {
    cbor.string("ver");
    cbor.integer(*label.ver);
  }
  return bytes;
}

using Json = nlohmann::ordered_json;

/// The share of the network's steps that a frame of labels follows.
constexpr double kFrames = 0.1;
/// The share of frames with more than one label.
constexpr double kSeveralLabels = 0.2;
constexpr std::size_t kMostAtOnce = 5;
/// The share of labels that change an existing one: withdraw it, or restore a withdrawn one.
constexpr double kChanges = 0.3;
constexpr double kOnAccounts = 0.3;
/// The share of labels on posts that name the version.
constexpr double kOnVersion = 0.5;
constexpr double kExpires = 0.1;
/// The share of expiring labels that expire within half a minute.
constexpr double kSoon = 0.5;
/// The specification allows both `neg` with the value false, and labels without `ver` from before
/// that field existed.
constexpr double kSaysNotNegated = 0.2;
constexpr double kNoVersion = 0.05;

constexpr std::array<std::string_view, 12> kValues = {
    "spam",      "porn",  "sexual", "nudity",     "graphic-media",
    "!hide",     "!warn", "rude",   "misleading", "sexual-figurative",
    "self-harm", "threat"};

Json or_null(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json();
}

}  // namespace

std::optional<LabelFlaw> parse_label_flaw(std::string_view name) {
  const auto* const found =
      std::ranges::find(kFlaws, name, [](const auto& flaw) { return flaw.first; });
  return found == kFlaws.end() ? std::nullopt : std::optional(found->second);
}

std::string label_flaw_names() {
  std::string names;
  for (const auto& [name, flaw] : kFlaws) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

Label with_flaw(Label label, LabelFlaw flaw, std::string_view stranger) {
  constexpr std::size_t kLongestValue = 128;
  switch (flaw) {
    case LabelFlaw::signature:
    case LabelFlaw::no_signature:
      break;
    case LabelFlaw::ver:
      label.ver = 2;
      break;
    case LabelFlaw::src:
      label.src = stranger;
      break;
    case LabelFlaw::uri:
      label.uri = "nowhere in particular";
      break;
    case LabelFlaw::cid:
      label.cid = "no CID";
      break;
    case LabelFlaw::val:
      label.val.assign(kLongestValue + 1, 'x');
      break;
    case LabelFlaw::cts:
      label.cts = "last week";
      break;
    case LabelFlaw::exp:
      label.exp = "next week";
      break;
  }
  return label;
}

Bytes signed_label(const Label& label, const atproto::SigningKey& key,
                   std::optional<LabelFlaw> flaw) {
  Bytes content = label_bytes(label, {});
  if (flaw == LabelFlaw::no_signature) return content;
  atproto::Signature signature = key.sign(content);
  if (flaw == LabelFlaw::signature) signature.back() ^= 1U;
  return label_bytes(label, signature);
}

Message labels_message(std::string_view did, std::span<const Bytes> labels) {
  Message message;
  message.did = did;
  CborWriter cbor(message.bytes);
  cbor.map(2);
  cbor.string("t");
  cbor.string("#labels");
  cbor.string("op");
  cbor.integer(1);
  cbor.map(2);
  cbor.string("seq");
  message.seq_at = message.bytes.size();
  cbor.string("labels");
  cbor.list(labels.size());
  for (const Bytes& label : labels) {
    message.bytes.insert(message.bytes.end(), label.begin(), label.end());
  }
  return message;
}

Labeler::Labeler(std::uint64_t seed, std::size_t number, Population& population,
                 const Subjects& subjects, Timestamp now)
    : random_(seed ^ 0x6c6162656cU),
      number_(number),
      population_(population),
      subjects_(subjects),
      log_(std::numeric_limits<std::size_t>::max()) {
  population_.renew_label_key(account(), now);
}

void Labeler::happen(Timestamp now) {
  if (!random_.chance(kFrames)) return;
  const std::size_t count = random_.chance(kSeveralLabels) ? random_.between(2, kMostAtOnce) : 1;
  std::vector<Wanted> wanted;
  std::set<Key> said;
  for (std::size_t i = 0; i < count; ++i) {
    const bool changes = !keys_.empty() && random_.chance(kChanges);
    Label label = changes ? changed_label(now) : fresh_label(now);
    // Labels with the same URI, value and time would have no defined order, so only one is
    // published.
    if (said.emplace(label.uri, label.val).second) wanted.push_back({std::move(label)});
  }
  say(std::move(wanted));
}

Label Labeler::fresh_label(Timestamp now) {
  Label label;
  if (random_.chance(kOnAccounts)) {
    label.uri = subjects_.account(random_);
  } else {
    StrongRef post = subjects_.post(random_).post;
    label.uri = std::move(post.uri);
    if (random_.chance(kOnVersion)) label.cid = std::move(post.cid);
  }
  label.val = random_.pick(kValues);
  label.cts = format_datetime(now);
  if (random_.chance(kSaysNotNegated)) label.neg = false;
  if (random_.chance(kNoVersion)) label.ver.reset();
  if (random_.chance(kExpires)) {
    constexpr std::size_t kMostSeconds = 30;
    constexpr std::size_t kMostHours = 30 * 24;
    const std::chrono::seconds lasts = random_.chance(kSoon)
                                           ? std::chrono::seconds(random_.between(1, kMostSeconds))
                                           : std::chrono::hours(random_.between(1, kMostHours));
    label.exp = format_datetime(now + lasts);
  }
  return label;
}

Label Labeler::changed_label(Timestamp now) {
  Label label = standing_.at(random_.pick(keys_)).label;
  const bool withdrawn = label.neg.value_or(false);
  label.neg.reset();
  if (!withdrawn) label.neg = true;
  label.exp.reset();
  label.cts = format_datetime(now);
  return label;
}

std::int64_t Labeler::say(std::vector<Wanted> wanted) {
  const Account& labeler = account();
  const std::string& stranger = population_.at((number_ + 1) % population_.size()).did;
  std::vector<Bytes> labels;
  for (auto& [label, flaw] : wanted) {
    label.src = labeler.did;
    const Label& sent = flaw ? with_flaw(label, *flaw, stranger) : label;
    labels.push_back(signed_label(sent, *labeler.label_key, flaw));
  }
  newest_ = std::make_shared<const Message>(labels_message(labeler.did, labels));
  const std::int64_t seq = log_.publish(newest_);
  for (const auto& [label, flaw] : wanted) {
    if (!flaw) keep(label, seq);
  }
  return seq;
}

void Labeler::keep(const Label& label, std::int64_t seq) {
  Key key(label.uri, label.val);
  const Timestamp made = parse_datetime(label.cts).value().instant;
  const auto [place, is_new] = standing_.try_emplace(key);
  Standing& standing = place->second;
  if (is_new) {
    keys_.push_back(std::move(key));
  } else if (std::tie(made, seq) < std::tie(standing.made, standing.seq)) {
    return;
  }
  standing = {label, made, seq};
}

bool Labeler::repeat() {
  if (!newest_) return false;
  log_.publish_with_last_seq(newest_);
  return true;
}

Json Labeler::state() const {
  Json labels = Json::array();
  for (const auto& [key, standing] : standing_) {
    const Label& label = standing.label;
    labels.push_back({{"src", label.src},
                      {"uri", label.uri},
                      {"val", label.val},
                      {"neg", label.neg.value_or(false)},
                      {"cts", label.cts},
                      {"exp", or_null(label.exp)},
                      {"cid", or_null(label.cid)},
                      {"seq", standing.seq}});
  }
  return {{"src", did()}, {"seq", log_.last_seq().value_or(0)}, {"labels", std::move(labels)}};
}

}  // namespace skua::sim
