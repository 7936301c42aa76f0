#pragma once

#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/test_vectors.hpp"

namespace skua::test {

/// One entry of a file of cases in JSON. As with LineVector, a single case with `available` false
/// stands for a file that is not there.
struct JsonVector {
  std::string name;
  nlohmann::json entry;
  std::size_t index = 0;
  bool available = true;

  /// A text of the entry.
  std::string text(const char* field) const { return entry.at(field).get<std::string>(); }

  friend std::ostream& operator<<(std::ostream& out, const JsonVector& vector) {
    return out << "entry " << vector.index << ": " << vector.name;
  }
};

/// The entries of a file under ../shared/data that holds a list, named by one of their fields.
inline std::vector<JsonVector> shared_entries(const std::filesystem::path& relative,
                                              const char* name_field) {
  const auto shared = shared_dir();
  if (!shared) return {{"needs ../shared", {}, 0, false}};
  std::vector<JsonVector> vectors;
  for (const nlohmann::json& entry :
       nlohmann::json::parse(read_file(*shared / "data" / relative))) {
    vectors.push_back({entry.at(name_field).get<std::string>(), entry, vectors.size(), true});
  }
  return vectors;
}

/// Names the cases of INSTANTIATE_TEST_SUITE_P.
struct NameOfEntry {
  template <class Info>
  std::string operator()(const Info& info) const {
    return vector_name(info.param.index, info.param.name);
  }
};

}  // namespace skua::test
