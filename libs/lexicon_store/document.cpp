#include "lexicon_store/document.hpp"

#include <functional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "lexicon/built_in.hpp"
#include "lexicon/lexicon_error.hpp"
#include "lexicon/schema_builder.hpp"

namespace skua::lexicon_store {
namespace {

using lexicon::LexiconError;
using nlohmann::json;

constexpr int kMaxLevels = 128;

/// Called by the parser for each value.
bool check_part(int depth, json::parse_event_t event, json& part) {
  if (depth > kMaxLevels) throw LexiconError("is nested too deeply");
  const bool may_be_text = event == json::parse_event_t::key || event == json::parse_event_t::value;
  if (may_be_text && part.is_string() &&
      part.get_ref<const std::string&>().find('\0') != std::string::npos) {
    throw LexiconError("has a NUL in a text");
  }
  return true;
}

std::string checked_id(const json& document) {
  const auto id = document.find("id");
  if (id == document.end() || !id->is_string() || !atproto::is_nsid(id->get<std::string>())) {
    throw LexiconError("id: must be an NSID");
  }
  return id->get<std::string>();
}

std::set<std::string, std::less<>> built_in_ids() {
  std::set<std::string, std::less<>> ids;
  for (const std::string_view text : lexicon::built_in_documents()) {
    ids.insert(checked_id(json::parse(text)));
  }
  return ids;
}

}  // namespace

Document read_document(std::string_view text) {
  if (text.size() > kMaxDocument) {
    throw LexiconError(fmt::format("has more than {} bytes", kMaxDocument));
  }
  const json document = json::parse(text, check_part, false);
  if (document.is_discarded()) throw LexiconError("not JSON");
  if (!document.is_object()) throw LexiconError("must be an object");
  return {.nsid = checked_id(document), .json = document.dump()};
}

bool is_built_in(std::string_view nsid) {
  static const auto ids = built_in_ids();
  return ids.contains(nsid);
}

lexicon::Schema schema_of(std::span<const Document> documents) {
  lexicon::SchemaBuilder builder;
  for (const std::string_view text : lexicon::built_in_documents()) builder.add(text);
  for (const Document& document : documents) builder.add(document.json);
  return std::move(builder).build();
}

}  // namespace skua::lexicon_store
