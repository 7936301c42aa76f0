#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "lexicon/lexicon_rules.hpp"

namespace skua::test {

struct CollectionRecord {
  std::string collection;
  json record;

  friend std::ostream& operator<<(std::ostream& out, const CollectionRecord& sample) {
    return out << sample.collection;
  }
};

/// One record of each collection that has a table. It is valid, has all fields of its lexicon, and
/// its texts and lists are as long as possible.
std::vector<CollectionRecord> collection_samples();

/// The required fields of a collection's records.
std::vector<std::string> required_fields(const std::string& collection);

json caption(const std::string& language, std::int64_t size = 20'000);
json video(const std::string& mime_type, std::int64_t size);
json gallery(std::size_t images);
json external(const json& thumb);

}  // namespace skua::test
