#include "streams/change_filter.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"

namespace skua::streams {

namespace {

bool passes_name(const ChangeFilter::Names& names, const std::string& name) {
  return names.empty() || names.contains(name);
}

constexpr std::size_t kLongestTopic = 100;

/// skua.enqueue accepts the same topics.
bool is_topic(std::string_view text) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_allowed = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  };
  return !text.empty() && text.size() <= kLongestTopic && is_letter(text.front()) &&
         std::ranges::all_of(text, is_allowed);
}

/// Returns the kinds of a filter that names none.
ChangeFilter::Names kinds_without_choice(bool has_topics, bool has_collections) {
  if (!has_topics) {
    ChangeFilter::Names kinds = known_kinds();
    kinds.erase("message");
    return kinds;
  }
  ChangeFilter::Names kinds{"message"};
  if (has_collections) kinds.insert("record");
  return kinds;
}

/// The deepest level of an update: a list within the payload within the object.
constexpr std::size_t kDeepest = 3;

/// Collects the members of a message. Each function returns whether the parser continues.
class OptionsReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit OptionsReader(OptionsUpdate& update) : update_(update) {}

  bool null() override { return value(Value::Null); }
  bool boolean(bool /*value*/) override { return value(Value::Other); }
  bool number_integer(number_integer_t number) override { return whole(number); }
  bool number_unsigned(number_unsigned_t number) override {
    constexpr auto kMost = static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    return whole(static_cast<std::int64_t>(std::min(number, kMost)));
  }
  bool number_float(number_float_t /*number*/, const string_t& /*text*/) override {
    return value(Value::Other);
  }
  bool binary(binary_t& /*bytes*/) override { return false; }
  bool string(string_t& text) override {
    if (list_ != nullptr && depth_ == kDeepest) {
      list_->push_back(std::move(text));
    } else if (is_member("type", 1)) {
      type_ = std::move(text);
    }
    return value(Value::Text);
  }
  bool start_object(std::size_t /*size*/) override {
    if (depth_ == 0) is_object_ = true;
    if (is_member("payload", 1)) has_payload_ = true;
    return open(false);
  }
  bool start_array(std::size_t /*size*/) override { return open(true); }
  bool key(string_t& name) override {
    // Members of deeper objects have no meaning.
    if (depth_ == 1) {
      member_ = std::move(name);
    } else if (depth_ == 2 && member_ == "payload") {
      payload_member_ = std::move(name);
    }
    return count();
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    is_broken_ = true;
    return false;
  }

  OptionsUpdate::Kind kind() const {
    using Kind = OptionsUpdate::Kind;
    if (is_broken_ || !is_object_ || !type_) return has_bad_list_ ? Kind::BadList : Kind::Malformed;
    if (*type_ != "options_update") return Kind::Other;
    if (!has_payload_) return Kind::NoPayload;
    return has_bad_list_ ? Kind::BadList : Kind::Update;
  }

 private:
  enum class Value : std::uint8_t { Null, Text, Other };

  bool is_member(std::string_view name, std::size_t depth) const {
    return depth_ == depth && (depth == 1 ? member_ : payload_member_) == name;
  }
  /// Returns the list to which the current member of the payload belongs; null if the member is no
  /// list.
  std::vector<std::string>* list_here() {
    if (depth_ != 2 || member_ != "payload" || !has_payload_) return nullptr;
    if (payload_member_ == "wantedCollections") return &update_.collections;
    return payload_member_ == "wantedDids" ? &update_.dids : nullptr;
  }
  bool count() {
    if (++values_ <= kMostOptionValues) return true;
    (list_ != nullptr ? has_bad_list_ : is_broken_) = true;
    return false;
  }
  bool open(bool is_array) {
    if (std::vector<std::string>* const list = list_here(); list != nullptr) {
      if (!is_array) has_bad_list_ = true;
      list->clear();
      list_ = list;
    } else if (list_ != nullptr) {
      has_bad_list_ = true;  // a list within a list
    }
    if (++depth_ <= kDeepest) return count();
    is_broken_ = true;
    return false;
  }
  bool close() {
    if (--depth_ == 2) list_ = nullptr;
    return true;
  }
  bool whole(std::int64_t number) {
    if (is_member("maxMessageSizeBytes", 2) && member_ == "payload") update_.max_bytes = number;
    return value(Value::Other);
  }
  bool value(Value kind) {
    if (list_ != nullptr && kind != Value::Text) has_bad_list_ = true;
    // An absent list means no restriction.
    if (list_here() != nullptr && kind != Value::Null) has_bad_list_ = true;
    return count();
  }

  OptionsUpdate& update_;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
  std::string member_;
  std::string payload_member_;
  std::optional<std::string> type_;
  /// The list that receives texts; null if texts are ignored.
  std::vector<std::string>* list_ = nullptr;
  bool is_object_ = false;
  bool has_payload_ = false;
  bool has_bad_list_ = false;
  bool is_broken_ = false;
};

}  // namespace

bool ChangeFilter::passes(const ChangeEvent& event) const {
  if (!passes_name(kinds, event.kind)) return false;
  if (event.kind == "bootstrap") return true;
  if (event.kind == "message") {
    return passes_name(ops, event.op) && passes_name(topics, event.topic);
  }
  return passes_name(ops, event.op) && passes_name(dids, event.did) &&
         (event.kind != "record" || collections.passes(event.collection));
}

const ChangeFilter::Names& known_operations() {
  static const ChangeFilter::Names kOperations{"create", "update", "delete"};
  return kOperations;
}

const ChangeFilter::Names& known_kinds() {
  static const ChangeFilter::Names kKinds{"record",    "account", "handle", "label",
                                          "bootstrap", "rules",   "message"};
  return kKinds;
}

Checked<atproto::CollectionFilter> parse_collections(std::span<const std::string> patterns,
                                                     std::size_t most) {
  if (patterns.size() > most) return fmt::format("more than {} collections", most);
  for (const auto& pattern : patterns) {
    if (!atproto::is_collection_pattern(pattern)) {
      return fmt::format("not a collection: '{}'; expected app.bsky.feed.post or app.bsky.feed.*",
                         pattern);
    }
  }
  return atproto::CollectionFilter(patterns);
}

Checked<ChangeFilter::Names> parse_dids(std::span<const std::string> dids, std::size_t most) {
  if (dids.size() > most) return fmt::format("more than {} accounts", most);
  for (const auto& did : dids) {
    if (!atproto::is_did(did)) return fmt::format("not a DID: '{}'", did);
  }
  return ChangeFilter::Names(dids.begin(), dids.end());
}

Checked<ChangeFilter::Names> parse_topics(std::span<const std::string> topics, std::size_t most) {
  if (topics.size() > most) return fmt::format("more than {} topics", most);
  for (const auto& topic : topics) {
    if (!is_topic(topic)) {
      return fmt::format(
          "not a topic: '{}'; a topic has up to {} lower-case letters, digits, and the characters "
          "_ . - and begins with a letter",
          topic, kLongestTopic);
    }
  }
  return ChangeFilter::Names(topics.begin(), topics.end());
}

Checked<ChangeFilter::Names> parse_choice(const std::string& parameter,
                                          std::span<const std::string> values,
                                          const ChangeFilter::Names& known) {
  for (const auto& value : values) {
    if (!known.contains(value)) {
      return fmt::format("{}: '{}' is not one of {}", parameter, value, fmt::join(known, ", "));
    }
  }
  return ChangeFilter::Names(values.begin(), values.end());
}

Checked<ChangeFilter> parse_change_filter(const FilterTexts& texts, const FilterLimits& limits) {
  auto collections = parse_collections(texts.collections, limits.patterns);
  if (!collections) return std::move(collections).error();
  auto dids = parse_dids(texts.dids, limits.accounts);
  if (!dids) return std::move(dids).error();
  auto ops = parse_choice("op", texts.ops, known_operations());
  if (!ops) return std::move(ops).error();
  auto kinds = parse_choice("kind", texts.kinds, known_kinds());
  if (!kinds) return std::move(kinds).error();
  auto topics = parse_topics(texts.topics, limits.patterns);
  if (!topics) return std::move(topics).error();
  if (!topics->empty() && !kinds->empty() && !kinds->contains("message")) {
    return std::string("a topic needs the kind message");
  }
  if (kinds->empty()) *kinds = kinds_without_choice(!topics->empty(), !texts.collections.empty());
  return ChangeFilter{*std::move(collections), *std::move(dids), *std::move(ops), *std::move(kinds),
                      *std::move(topics)};
}

OptionsUpdate parse_options_update(std::string_view text) {
  OptionsUpdate update;
  OptionsReader reader(update);
  nlohmann::json::sax_parse(text, &reader);
  update.kind = reader.kind();
  return update;
}

}  // namespace skua::streams
