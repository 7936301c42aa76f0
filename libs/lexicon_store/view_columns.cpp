#include "lexicon_store/view_columns.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"
#include "lexicon/lexicon_error.hpp"

namespace skua::lexicon_store {
namespace {

using lexicon::Format;
using lexicon::Kind;

constexpr std::size_t kMaxIdentifier = 63;
constexpr std::size_t kMaxComment = 1'000;

bool is_lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

/// Without a limit of the length.
std::string snake_case(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_lower(c)) {
      out += c;
    } else if (is_upper(c)) {
      const bool is_after_lower = i > 0 && is_lower(text[i - 1]);
      // The last letter of an acronym begins the next word: "aDIDDoc" is a_did_doc.
      const bool is_word = i > 0 && is_upper(text[i - 1]) && i + 1 < text.size() &&
                           text[i + 1] >= 'a' && text[i + 1] <= 'z';
      if (is_after_lower || is_word) out += '_';
      out += static_cast<char>(c - 'A' + 'a');
    } else if (!out.ends_with('_')) {
      out += '_';
    }
  }
  if (out.empty()) out = "_";
  return out;
}

/// 8 hexadecimal digits.
std::string short_hash(std::string_view text) {
  const auto digest = atproto::sha256(as_bytes(text));
  return fmt::format("{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3]);
}

std::string with_ending(std::string name, const std::string& ending) {
  name.resize(std::min(name.size(), kMaxIdentifier - ending.size()));
  return name + ending;
}

/// A prefix of valid UTF-8 that is valid UTF-8.
std::string cut(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  text.resize(bytes);
  return text;
}

const char* column_type(const lexicon::Node& node) {
  switch (node.kind) {
    case Kind::String:
      return node.format == Format::Datetime ? "timestamptz" : "text";
    case Kind::Integer:
      return "int8";
    case Kind::Boolean:
      return "boolean";
    default:
      return "jsonb";
  }
}

std::string comment_of(const nlohmann::json& properties, const std::string& key) {
  if (const auto property = properties.find(key); property != properties.end()) {
    const auto description = property->find("description");
    if (description != property->end() && description->is_string()) {
      return cut(description->get<std::string>(), kMaxComment);
    }
  }
  return cut(fmt::format("The property {} of the record.", key), kMaxComment);
}

/// The columns that each view has, and those that PostgreSQL gives to each table.
std::set<std::string> reserved_names() {
  return {"uri",      "did",  "handle", "name", "rkey_text", "indexed_at", "cid",  "rev",
          "actor_id", "rkey", "ctid",   "xmin", "cmin",      "xmax",       "cmax", "tableoid"};
}

}  // namespace

std::string identifier(std::string_view text) {
  std::string name = snake_case(text);
  return name.size() <= kMaxIdentifier ? name
                                       : with_ending(std::move(name), '_' + short_hash(text));
}

std::string hashed_identifier(std::string_view text) {
  return with_ending(snake_case(text), '_' + short_hash(text));
}

std::vector<Column> view_columns(const lexicon::Schema& schema, const Document& document) {
  const auto fields = schema.fields(*schema.record(document.nsid));
  if (fields.size() > kMaxProperties) {
    throw lexicon::LexiconError(fmt::format("{}: defs.main.record.properties: more than {}",
                                            document.nsid, kMaxProperties));
  }
  const nlohmann::json::json_pointer place("/defs/main/record/properties");
  const auto properties =
      nlohmann::json::parse(document.json).value(place, nlohmann::json::object());
  std::set<std::string> names = reserved_names();
  std::vector<Column> columns;
  for (const lexicon::Field& field : fields) {
    const std::string base = identifier(field.key);
    std::string name = base;
    for (int n = 2; !names.insert(name).second; ++n)
      name = with_ending(base, fmt::format("_{}", n));
    columns.push_back({.name = std::move(name),
                       .key = field.key,
                       .type = column_type(schema.node(field.node)),
                       .comment = comment_of(properties, field.key)});
  }
  return columns;
}

std::string index_prefix(int collection) {
  return fmt::format("lexicon_{}_", collection);
}

std::string index_name(int collection, const Column& column) {
  return with_ending(index_prefix(collection) + column.name,
                     '_' + short_hash(column.type + ' ' + column.key));
}

}  // namespace skua::lexicon_store
