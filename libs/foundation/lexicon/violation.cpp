#include "lexicon/violation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unicode/ubrk.h>
#include <unicode/utext.h>
#include <utility>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "atproto/tid.hpp"
#include "base/time.hpp"

namespace skua::lexicon {

namespace {

void require_success(UErrorCode status, const char* what) {
  if (U_FAILURE(status)) throw std::runtime_error(std::string(what) + ": " + u_errorName(status));
}

/// Holds ICU's iterator over grapheme clusters. Each thread has one, because opening an iterator is
/// slow.
class Clusters {
 public:
  Clusters() {
    UErrorCode status = U_ZERO_ERROR;
    iterator_.reset(ubrk_open(UBRK_CHARACTER, "", nullptr, 0, &status));
    require_success(status, "ICU cannot open its iterator over characters");
  }

  bool exceed(std::string_view text, std::size_t limit) {
    UErrorCode status = U_ZERO_ERROR;
    UText input = UTEXT_INITIALIZER;
    utext_openUTF8(&input, text.data(), static_cast<std::int64_t>(text.size()), &status);
    require_success(status, "ICU cannot read a text");
    ubrk_setUText(iterator_.get(), &input, &status);
    std::size_t count = 0;
    while (count <= limit && ubrk_next(iterator_.get()) != UBRK_DONE) ++count;
    utext_close(&input);
    require_success(status, "ICU cannot iterate over a text");
    return count > limit;
  }

 private:
  struct Close {
    void operator()(UBreakIterator* iterator) const { ubrk_close(iterator); }
  };
  std::unique_ptr<UBreakIterator, Close> iterator_;
};

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

/// Counts the pairs of CR and LF. Such a pair is one cluster, and no other cluster of ASCII has two
/// characters.
std::size_t line_ends_of_two(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find("\r\n"); at != std::string_view::npos;
       at = text.find("\r\n", at + 2)) {
    ++count;
  }
  return count;
}

using atproto::Value;

/// The largest depth of values, which equals the default of repo::CborOptions.
constexpr std::size_t kMaxDepth = 128;
constexpr std::string_view kTypeKey = "$type";

/// The position of a value in the record, for the path of a fault. A Place lives on the stack.
struct Place {
  const Place* parent = nullptr;
  /// The key of a value in a map. For a value in a list, `index` is used instead.
  std::string_view key;
  std::size_t index = 0;
  std::size_t depth = 0;

  Place at(std::string_view name) const { return {this, name, 0, depth + 1}; }
  Place at(std::size_t position) const { return {this, {}, position, depth + 1}; }

  void append(std::string& path) const {
    if (parent == nullptr) return;
    parent->append(path);
    if (key.data() == nullptr) {
      path += fmt::format("[{}]", index);
    } else {
      if (!path.empty()) path += '.';
      path += key;
    }
  }
};

/// Whether a MIME type matches `*/*`, a pattern such as `image/*`, or a full type.
bool accepts(std::string_view pattern, std::string_view mime_type) {
  if (pattern == "*/*") return true;
  if (!pattern.ends_with("/*")) return pattern == mime_type;
  return mime_type.starts_with(pattern.substr(0, pattern.size() - 1));
}

/// Checks a value in one walk. Each check returns false after the first fault.
class Walk {
 public:
  explicit Walk(const Schema& schema) : schema_(schema) {}

  bool check(const Node& type, const Value& value, const Place& place) {
    if (place.depth > kMaxDepth) return fail(place, "nested too deeply");
    switch (type.kind) {
      case Kind::Null:
        return value.is_null() || fail(place, "must be null");
      case Kind::Boolean:
        if (!value.is_boolean()) return fail(place, "must be a boolean");
        return check_allowed(type, value.boolean() ? 1 : 0, place);
      case Kind::Integer:
        return check_integer(type, value, place);
      case Kind::String:
        return check_string(type, value, place);
      case Kind::Bytes:
        if (!value.is_bytes()) return fail(place, "must be bytes");
        return check_count(type, value.bytes().size(), "bytes", place);
      case Kind::CidLink:
        return value.is_link() || fail(place, "must be a link");
      case Kind::Blob:
        return check_blob(type, value, place);
      case Kind::Array:
        return check_array(type, value, place);
      case Kind::Object:
        return check_object(type, value, place);
      case Kind::Union:
        return check_union(type, value, place);
      case Kind::Unknown:
        return (value.is_map() && !is_blob(value)) || fail(place, "must be an object");
      case Kind::Reference:
        break;
    }
    return fail(place, "has an unresolved type");
  }

  std::optional<std::string> fault() && { return std::move(fault_); }

 private:
  bool fail(const Place& place, std::string_view message) {
    std::string path;
    place.append(path);
    fault_ = fmt::format("{}: {}", path.empty() ? "record" : path, message);
    return false;
  }

  bool check_count(const Node& type, std::size_t count, std::string_view unit, const Place& place) {
    const auto size = static_cast<std::int64_t>(count);
    if (size > type.maximum) return fail(place, fmt::format("more than {} {}", type.maximum, unit));
    if (size < type.minimum) {
      return fail(place, fmt::format("fewer than {} {}", type.minimum, unit));
    }
    return true;
  }

  bool check_allowed(const Node& type, std::int64_t number, const Place& place) {
    const auto allowed = schema_.numbers(type);
    return allowed.empty() || std::find(allowed.begin(), allowed.end(), number) != allowed.end() ||
           fail(place, "not an allowed value");
  }

  bool check_integer(const Node& type, const Value& value, const Place& place) {
    if (!value.is_integer()) return fail(place, "must be an integer");
    const std::int64_t number = value.integer();
    if (number < type.minimum) return fail(place, fmt::format("less than {}", type.minimum));
    if (number > type.maximum) return fail(place, fmt::format("more than {}", type.maximum));
    return check_allowed(type, number, place);
  }

  bool check_string(const Node& type, const Value& value, const Place& place) {
    if (!value.is_string()) return fail(place, "must be a string");
    const std::string_view text = value.string();
    // Checks the cheap limit first, because it bounds the cost of the other checks.
    if (!check_count(type, text.size(), "bytes", place)) return false;
    const auto allowed = schema_.texts(type);
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
      return fail(place, "not an allowed value");
    }
    if (const char* fault = format_fault(text, type.format)) return fail(place, fault);
    if (has_more_graphemes(text, type.max_graphemes)) {
      return fail(place, fmt::format("more than {} graphemes", type.max_graphemes));
    }
    if (type.min_graphemes > 0 && !has_more_graphemes(text, type.min_graphemes - 1)) {
      return fail(place, fmt::format("fewer than {} graphemes", type.min_graphemes));
    }
    return true;
  }

  static bool is_blob(const Value& value) {
    const auto type = value.find(kTypeKey);
    return type && type->is_string() && type->string() == "blob";
  }

  bool check_blob(const Node& type, const Value& value, const Place& place) {
    if (is_blob(value)) {
      const auto ref = value.find("ref");
      if (!ref) return fail(place.at("ref"), "missing");
      if (!ref->is_link()) return fail(place.at("ref"), "must be a link");
      const auto size = value.find("size");
      if (!size) return fail(place.at("size"), "missing");
      if (!size->is_integer()) return fail(place.at("size"), "must be an integer");
      if (size->integer() > type.maximum) {
        return fail(place.at("size"), fmt::format("more than {} bytes", type.maximum));
      }
      return check_mime_type(value, schema_.texts(type), place);
    }
    const auto cid = value.find("cid");
    if (!cid || value.find(kTypeKey)) return fail(place, "must be a blob");
    if (!cid->is_string()) return fail(place.at("cid"), "must be a string");
    if (!atproto::is_cid_text(cid->string())) return fail(place.at("cid"), "not a CID");
    return check_mime_type(value, {}, place);
  }

  bool check_mime_type(const Value& blob, std::span<const std::string> accepted,
                       const Place& place) {
    const auto mime_type = blob.find("mimeType");
    if (!mime_type) return fail(place.at("mimeType"), "missing");
    if (!mime_type->is_string()) return fail(place.at("mimeType"), "must be a string");
    const auto matches = [&](const std::string& pattern) {
      return accepts(pattern, mime_type->string());
    };
    return accepted.empty() || std::any_of(accepted.begin(), accepted.end(), matches) ||
           fail(place.at("mimeType"), "not an accepted type");
  }

  bool check_array(const Node& type, const Value& value, const Place& place) {
    if (!value.is_list()) return fail(place, "must be a list");
    if (!check_count(type, value.size(), "items", place)) return false;
    const Node& item_type = schema_.node(type.items);
    std::size_t index = 0;
    for (const auto item : value.items()) {
      if (!check(item_type, item, place.at(index++))) return false;
    }
    return true;
  }

  bool check_object(const Node& type, const Value& value, const Place& place) {
    if (!value.is_map()) return fail(place, "must be an object");
    const auto fields = schema_.fields(type);
    std::size_t required = 0;
    for (const auto entry : value.entries()) {
      const auto field = std::find_if(fields.begin(), fields.end(),
                                      [&](const Field& f) { return f.key == entry.key; });
      if (field == fields.end()) continue;
      if (field->required) ++required;
      if (field->nullable && entry.value.is_null()) continue;
      if (!check(schema_.node(field->node), entry.value, place.at(entry.key))) return false;
    }
    if (required >= type.required) return true;
    for (const Field& field : fields) {
      if (field.required && !value.find(field.key)) return fail(place.at(field.key), "missing");
    }
    return true;
  }

  bool check_union(const Node& type, const Value& value, const Place& place) {
    if (!value.is_map()) return fail(place, "must be an object");
    const auto named = value.find(kTypeKey);
    if (!named) return fail(place.at(kTypeKey), "missing");
    std::string_view name = named->is_string() ? named->string() : std::string_view{};
    if (name.empty()) return fail(place.at(kTypeKey), "must be the name of a type");
    if (name.ends_with("#main")) name.remove_suffix(std::string_view("#main").size());
    for (const Member& member : schema_.members(type)) {
      if (member.type == name) return check(schema_.node(member.node), value, place);
    }
    return !type.closed || fail(place.at(kTypeKey), "not an allowed type");
  }

  const Schema& schema_;
  std::optional<std::string> fault_;
};

}  // namespace

const char* format_fault(std::string_view text, Format format) {
  switch (format) {
    case Format::None:
      return nullptr;
    case Format::AtIdentifier:
      return atproto::is_did(text) || atproto::is_handle(text) ? nullptr : "not a DID or handle";
    case Format::AtUri:
      return atproto::parse_at_uri(text) ? nullptr : "not an AT-URI";
    case Format::Cid:
      return atproto::is_cid_text(text) ? nullptr : "not a CID";
    case Format::Datetime:
      return parse_datetime(text) ? nullptr : "not a datetime";
    case Format::Did:
      return atproto::is_did(text) ? nullptr : "not a DID";
    case Format::Handle:
      return atproto::is_handle(text) ? nullptr : "not a handle";
    case Format::Language:
      return atproto::is_language_tag(text) ? nullptr : "not a language tag";
    case Format::Nsid:
      return atproto::is_nsid(text) ? nullptr : "not an NSID";
    case Format::RecordKey:
      return atproto::is_record_key(text) ? nullptr : "not a record key";
    case Format::Tid:
      return atproto::Tid::parse(text) ? nullptr : "not a TID";
    case Format::Uri:
      return atproto::is_uri(text) ? nullptr : "not a URI";
  }
  return nullptr;
}

bool has_more_graphemes(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return false;
  const std::size_t points = code_points(text);
  if (points <= limit) return false;
  if (points == text.size()) return points - line_ends_of_two(text) > limit;
  thread_local Clusters clusters;
  return clusters.exceed(text, limit);
}

std::optional<std::string> find_violation(const Schema& schema, const Node& type,
                                          const Value& value) {
  Walk walk(schema);
  walk.check(type, value, Place{});
  return std::move(walk).fault();
}

}  // namespace skua::lexicon
