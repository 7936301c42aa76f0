#include "lexicon/built_in.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "atproto/sha256.hpp"
#include "base/bytes.hpp"
#include "lexicon/schema_builder.hpp"

namespace skua::lexicon {
namespace {

/// Increase this number when a change of the code makes other records valid or invalid.
constexpr int kRules = 1;

}  // namespace

const Schema& built_in_schema() {
  static const Schema schema = [] {
    SchemaBuilder builder;
    for (const std::string_view document : built_in_documents()) builder.add(document);
    return std::move(builder).build();
  }();
  return schema;
}

const Node& built_in_record(std::string_view collection) {
  const Node* const record = built_in_schema().record(collection);
  if (record == nullptr) throw std::logic_error("no lexicon of " + std::string(collection));
  return *record;
}

const std::string& built_in_fingerprint() {
  static const std::string fingerprint = [] {
    std::string all = std::to_string(kRules);
    for (const std::string_view document : built_in_documents()) all.append(document);
    const atproto::Digest digest = atproto::sha256(as_bytes(all));
    return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + 8, ""));
  }();
  return fingerprint;
}

}  // namespace skua::lexicon
