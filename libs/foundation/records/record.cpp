#include "records/record.hpp"

#include <algorithm>
#include <array>

#include "atproto/base64.hpp"
#include "base/bytes.hpp"
#include "lexicon/built_in.hpp"
#include "lexicon/violation.hpp"
#include "records/field_reader.hpp"
#include "records/json_text.hpp"

namespace skua::records {
namespace {

/// Calls `f` with the struct of a collection. Returns false if the collection has no struct.
/// Comparing the name with one constant after the other is faster than hashing, because most
/// lengths differ and the most frequent collections come first.
template <class F>
bool with_collection(std::string_view collection, F&& f) {
  bool found = false;
  for_each_collection([&]<class T>() {
    if (found || collection != T::kCollection) return;
    found = true;
    f.template operator()<T>();
  });
  return found;
}

template <std::size_t... I>
constexpr bool ids_follow_the_list(std::index_sequence<I...>) {
  return ((TypedRecord<I + 1>::kCollectionId == static_cast<std::int32_t>(I + 1)) && ...);
}
static_assert(ids_follow_the_list(std::make_index_sequence<kTypedCollections>()),
              "a struct's kCollectionId is its place in the variant");

void keep_as_json(const atproto::Value& root, std::optional<std::string> reason, Decoded& out) {
  out.record = std::monostate{};
  out.json.clear();
  out.nuls_removed = append_json(out.json, root);
  out.invalid_reason = std::move(reason);
}

/// Returns a violation of the rules that a FieldReader does not check: lengths, ranges, the formats
/// of other texts, blobs.
template <class T>
std::optional<std::string> lexicon_violation(const atproto::Value& root) {
  static const lexicon::Node& type = lexicon::built_in_record(T::kCollection);
  return lexicon::find_violation(lexicon::built_in_schema(), type, root);
}

template <class T>
std::optional<std::string> decode_as(std::string_view rkey, const atproto::Value& root,
                                     Decoded& out) {
  if (T::kSingleton && rkey != "self") return "rkey: must be self";
  FieldReader::Notes notes;
  FieldReader fields(root, notes);
  if (const auto type = root.find("$type")) {
    if (!type->is_string() || type->string() != T::kCollection) {
      return "$type: must be " + std::string(T::kCollection);
    }
  }
  T& record = out.record.emplace<T>(T::decode(fields));
  if (fields.failed()) return std::move(notes.fault);
  if (auto violation = lexicon_violation<T>(root)) return violation;
  record.extra = fields.extra();
  out.nuls_removed = notes.nuls_removed;
  return std::nullopt;
}

bool is_reserved_key(std::string_view text) {
  return text == "$link" || text == "$bytes" || text == "$cbor" || text == "$avatar" ||
         text == "$banner";
}

/// Whether the JSON of the record in the database encodes to another block. The database's JSON has
/// no NUL and does not tell a float from an integer, JSON does not tell a map with the key `$link`
/// from a link, and the members with `$` in `extra` are ours.
bool needs_block(const atproto::Document& document) {
  if (document.has_floats() || !document.is_canonical()) return true;
  return std::any_of(document.tree().begin(), document.tree().end(), [](const atproto::Node& node) {
    if (node.kind != atproto::Kind::string || node.size == 0) return false;
    const std::string_view text = as_text({node.data, node.size});
    return text.find('\0') != text.npos || (text[0] == '$' && is_reserved_key(text));
  });
}

}  // namespace

Decoded decode_record(std::string_view collection, std::string_view rkey,
                      const atproto::Value& root) {
  Decoded out;
  if (!root.is_map()) {
    keep_as_json(root, "record: must be an object", out);
    return out;
  }
  std::optional<std::string> reason;
  const bool typed =
      with_collection(collection, [&]<class T>() { reason = decode_as<T>(rkey, root, out); });
  if (!typed || reason) keep_as_json(root, std::move(reason), out);
  return out;
}

Decoded decode_record(std::string_view collection, std::string_view rkey,
                      const atproto::Document& document) {
  Decoded out;
  if (document.has_floats()) {
    keep_as_json(document.root(), "record: has a floating point number", out);
  } else {
    out = decode_record(collection, rkey, document.root());
  }
  out.needs_block = needs_block(document);
  return out;
}

void keep_block(Decoded& decoded, ByteView block) {
  if (!decoded.needs_block) return;
  std::visit(
      [&]<class T>(T& typed) {
        if constexpr (!std::is_same_v<T, std::monostate>) {
          if (typed.extra.empty()) {
            typed.extra = '{';
          } else {
            typed.extra.back() = ',';
          }
          typed.extra += R"("$cbor":")";
          atproto::append_base64(typed.extra, block);
          // PostgreSQL reads base64 with padding only.
          constexpr std::array<std::string_view, 3> kPadding = {"", "==", "="};
          typed.extra += kPadding[block.size() % 3];
          typed.extra += "\"}";
        }
      },
      decoded.record);
}

std::optional<Timestamp> created_at(const Record& record) {
  return std::visit(
      []<class T>(const T& typed) -> std::optional<Timestamp> {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return std::nullopt;
        } else {
          return typed.created_at;
        }
      },
      record);
}

RecordType record_type_of(std::string_view collection) {
  RecordType type = RecordType::Metadata;
  with_collection(collection, [&]<class T>() { type = T::kType; });
  return type;
}

std::int32_t typed_collection_id(std::string_view collection) {
  std::int32_t id = 0;
  with_collection(collection, [&]<class T>() { id = T::kCollectionId; });
  return id;
}

}  // namespace skua::records
