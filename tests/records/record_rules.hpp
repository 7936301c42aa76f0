#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "records/record.hpp"

namespace skua::test {

using nlohmann::json;

inline constexpr std::string_view kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
inline constexpr std::string_view kOtherDid = "did:web:other.example";
inline constexpr std::string_view kCid =
    "bafyreid27zk7lbis4zw5fz4podbvbs4fc5ivwji3dmrwa6zggnj4bnd57u";
inline constexpr std::string_view kBlobCid =
    "bafkreias7oxbr6swsuggccmtnqpoeami4jza5x4w3urltn6gzhqf4k6k2e";

std::string uri_of(std::string_view did, std::string_view collection, std::string_view rkey);
json strong_ref(const std::string& uri);
json blob(const std::string& mime_type = "image/png");

/// A record with the buffers that it points into.
class DecodedJson {
 public:
  DecodedJson(std::string_view collection, const json& record,
              std::string_view rkey = "3jquh3dxgi52o");

  const records::Decoded& operator*() const { return decoded_; }
  const records::Decoded* operator->() const { return &decoded_; }
  records::Decoded& decoded() { return decoded_; }

 private:
  Bytes block_;
  atproto::Document document_;
  records::Decoded decoded_;
};

/// A record of collection T that is valid; if it is not, the test fails here.
template <class T>
class Valid {
 public:
  explicit Valid(const json& record)
      : decoded_(T::kCollection, record, T::kSingleton ? "self" : "3jquh3dxgi52o") {
    EXPECT_FALSE(decoded_->invalid_reason) << *decoded_->invalid_reason;
    EXPECT_EQ(decoded_->json, "");
  }
  const T& operator*() const { return std::get<T>(decoded_->record); }
  const T* operator->() const { return &**this; }
  records::Decoded& decoded() { return decoded_.decoded(); }

 private:
  DecodedJson decoded_;
};

/// References of a record in the order of visiting, as texts.
std::vector<std::string> references_of(records::Record& record);

/// One way to break a lexicon.
struct Breach {
  std::string name;
  std::string collection;
  bool singleton = false;
  json record;
  std::string reason;
};

/// Tests, instantiated once a collection, that each breach makes the record invalid for its reason
/// and keeps it whole.
class BreaksLexicon : public testing::TestWithParam<Breach> {};

/// The breaches of a lexicon: each of `required` removed, each of `fields` (which a valid record
/// has) replaced by a value of every other type. Fields are paths such as `subject.uri` or
/// `facets[0].index`.
std::vector<Breach> breaches(std::string_view collection, bool singleton, const json& valid,
                             const std::vector<std::string>& required,
                             const std::vector<std::string>& fields);

template <class T>
std::vector<Breach> breaches_of(const json& valid, const std::vector<std::string>& required,
                                const std::vector<std::string>& fields) {
  return breaches(T::kCollection, T::kSingleton, valid, required, fields);
}

inline std::string breach_name(const testing::TestParamInfo<Breach>& info) {
  return info.param.name;
}

}  // namespace skua::test
