#include "repo/dag_cbor.hpp"

#include <array>
#include <cstddef>

#include <nlohmann/json.hpp>

#include "atproto/data_model.hpp"
#include "fuzz/target.hpp"
#include "lexicon/built_in.hpp"
#include "lexicon/violation.hpp"
#include "records/record.hpp"

namespace skua::fuzz {
namespace {

constexpr repo::CborOptions kCanonical{.allow_floats = true};

Bytes written(const atproto::Document& document) {
  Bytes bytes;
  repo::CborWriter(bytes).value(document.root());
  return bytes;
}

/// Checks the value against the lexicon of a collection: exactly the records that it allows have a
/// struct.
void check_lexicon(std::string_view collection, const atproto::Document& document, bool is_typed) {
  const auto& schema = lexicon::built_in_schema();
  const auto* type = schema.record(collection);
  if (type == nullptr) return;
  const bool is_valid = !lexicon::find_violation(schema, *type, document.root());
  const auto name = document.root().find("$type");
  const bool has_other_name = name && (!name->is_string() || name->string() != collection);
  require(is_typed == (is_valid && !has_other_name && !document.has_floats()),
          "a record is a struct if its lexicon allows it");
}

/// Reads the value as a record of each collection with a struct, and of one without.
template <std::size_t... Ids>
void decode_as_records(const atproto::Document& document, std::index_sequence<Ids...>) {
  const std::array collections{std::string_view("com.example.other"),
                               std::string_view(records::TypedRecord<Ids + 1>::kCollection)...};
  for (const std::string_view collection : collections) {
    const auto decoded = records::decode_record(collection, "self", document);
    const bool is_typed = !std::holds_alternative<std::monostate>(decoded.record);
    require(is_typed == decoded.json.empty(), "a record is a struct or JSON");
    check_lexicon(collection, document, is_typed);
    require(is_typed || nlohmann::json::accept(decoded.json), "the JSON of a record is JSON");
    std::visit(
        [](const auto& record) {
          if constexpr (requires { record.extra; }) {
            require(record.extra.empty() || nlohmann::json::accept(record.extra),
                    "what has no column is JSON");
          }
        },
        decoded.record);
  }
}

}  // namespace

void run_dag_cbor(ByteView input) {
  atproto::Document any;
  atproto::Document canonical;
  const bool is_any = repo::read_dag_cbor(input, any, repo::kAnyForm).has_value();
  const bool is_canonical = repo::read_dag_cbor(input, canonical, kCanonical).has_value();
  require(is_any || !is_canonical, "DAG-CBOR is CBOR of some form");
  if (!is_any) return;
  require(is_canonical == any.is_canonical(), "both readers judge the form alike");

  const Bytes first = written(any);
  if (is_canonical) {
    require(std::equal(first.begin(), first.end(), input.begin(), input.end()),
            "DAG-CBOR has one form");
  }
  atproto::Document again;
  require(repo::read_dag_cbor(first, again, kCanonical).has_value(), "what is written is DAG-CBOR");
  require(written(again) == first, "reading it changes nothing");

  decode_as_records(any, std::make_index_sequence<records::kTypedCollections>());
}

}  // namespace skua::fuzz
