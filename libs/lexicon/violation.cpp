#include "lexicon/violation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "lexicon/formats.hpp"
#include "lexicon/graphemes.hpp"

namespace skua::lexicon {
namespace {

using atproto::Value;

/// As deep as repo::CborOptions lets values be by default.
constexpr std::size_t kMaxDepth = 128;
constexpr std::string_view kTypeKey = "$type";

/// The position of a value in the record, for the path of a fault. Lies on the stack.
struct Place {
  const Place* parent = nullptr;
  /// The key in a map; in a list the index counts.
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

/// `*/*`, `image/*` or a whole type.
bool accepts(std::string_view pattern, std::string_view mime_type) {
  if (pattern == "*/*") return true;
  if (!pattern.ends_with("/*")) return pattern == mime_type;
  return mime_type.starts_with(pattern.substr(0, pattern.size() - 1));
}

/// One walk over a value. Each check returns false after the first fault.
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
    // The cheap limit comes first: it bounds the cost of the others.
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

std::optional<std::string> find_violation(const Schema& schema, const Node& type,
                                          const Value& value) {
  Walk walk(schema);
  walk.check(type, value, Place{});
  return std::move(walk).fault();
}

}  // namespace skua::lexicon
