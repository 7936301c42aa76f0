#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "writer/table_samples.hpp"

/// For the files of this folder: each registers the sample of one table.
namespace skua::test::samples {

using nlohmann::json;

/// Adds a sample to `table_samples`, before `main`. Adds the fields `$type` and `createdAt`, and
/// one that has no column.
void add(TableSample sample);

/// Registers the sample of the table of records of type R.
template <class R>
class SampleOf {
 public:
  struct Parts {
    std::string table;
    json record;
    std::string expression;
    std::string expected;
    std::string rkey = R::kSingleton ? "self" : "3l2s5xxv2ze2c";
    bool has_created_at = true;
    std::string empty = {};
  };

  explicit SampleOf(Parts parts) {
    add({std::move(parts.table), std::string(R::kCollection), std::move(parts.rkey),
         std::move(parts.record), std::move(parts.expression), std::move(parts.expected),
         parts.has_created_at, R::kCollectionId, std::move(parts.empty)});
  }
};

inline const std::string kPostUri = "at://did:plc:other/app.bsky.feed.post/3l2s5xxv2ze2d";
inline const std::string kRootUri = "at://did:plc:root/app.bsky.feed.post/3l2s5xxv2ze2e";
inline const std::string kRepostUri = "at://did:plc:other/app.bsky.feed.repost/3l2s5xxv2ze2f";
inline const std::string kListUri = "at://did:plc:other/app.bsky.graph.list/3l2s5xxv2ze2g";
inline const std::string kFeedUri = "at://did:plc:other/app.bsky.feed.generator/whats-hot";
inline const std::string kPackUri = "at://did:plc:other/app.bsky.graph.starterpack/3l2s5xxv2ze2h";
/// The post of the author of all samples with the key of the sample.
inline const std::string kOwnPostUri = "at://did:plc:author/app.bsky.feed.post/3l2s5xxv2ze2c";

// Fields of records.

std::string cid_of(const std::string& text, std::uint8_t codec = atproto::Cid::kDagCbor);
json strong_ref(const std::string& uri);
json blob(const std::string& content);
json labels(const std::string& value);
json facets();

// Expressions over columns, and their values.

/// A reference as its URI; `with_cid`: and its CID. `collection`: its number, as SQL.
std::string reference(const std::string& prefix, const std::string& collection, bool with_cid);
std::string with_cid(const std::string& uri);
std::string did_of(const std::string& column);
std::string concat(const std::vector<std::string>& expressions);

}  // namespace skua::test::samples
