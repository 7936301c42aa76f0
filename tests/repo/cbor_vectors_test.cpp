// The public vectors of DAG-CBOR: DASL, the codec fixtures of IPLD, RFC 8949's appendix A and the
// data model of atproto (whose JSON the tests of `event` compare).

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/errc.hpp"
#include "support/json_vectors.hpp"

namespace skua::repo::cbor_vectors_test {
namespace {

using nlohmann::json;
using test::JsonVector;

struct Vector {
  std::string name;
  Bytes bytes;
  json about;
  std::string cid;

  friend std::ostream& operator<<(std::ostream& out, const Vector& vector) {
    return out << vector.name;
  }
};

struct NameOfVector {
  template <class Info>
  std::string operator()(const Info& test) const {
    return skua::test::vector_name(test.index, test.param.name);
  }
};

std::vector<Vector> or_placeholder(std::vector<Vector> vectors) {
  if (vectors.empty()) vectors.push_back({"needs ../shared", {}, {}, {}});
  return vectors;
}

/// True when the reader takes the bytes and the writer gives them back.
testing::AssertionResult round_trips(const Bytes& bytes) {
  CborOptions options;
  options.allow_floats = true;
  atproto::Document document;
  const auto read = read_dag_cbor(bytes, document, options);
  if (!read) return testing::AssertionFailure() << read.error().message();
  Bytes again;
  CborWriter(again).value(document.root());
  if (again != bytes) return testing::AssertionFailure() << "written otherwise";
  return testing::AssertionSuccess();
}

testing::AssertionResult is_refused(const Bytes& bytes) {
  CborOptions options;
  options.allow_floats = true;
  atproto::Document document;
  const auto read = read_dag_cbor(bytes, document, options);
  if (read) return testing::AssertionFailure() << "was taken";
  return testing::AssertionSuccess();
}

std::vector<Vector> dasl_vectors() {
  std::vector<Vector> vectors;
  const auto shared = test::shared_dir();
  if (!shared) return or_placeholder({});
  for (const char* file : {"cid", "concat", "indefinite", "integer_range", "map_keys",
                           "numeric_reduction", "simple", "tags"}) {
    const auto path = *shared / "data/cbor/dasl" / (std::string(file) + ".json");
    for (const json& c : json::parse(test::read_file(path))) {
      vectors.push_back({std::string(file) + " " + c.at("name").get<std::string>(),
                         test::from_hex(c.at("data").get<std::string>()),
                         c,
                         {}});
    }
  }
  return or_placeholder(vectors);
}

/// DASL's list serves several formats. These are the round trips of others, and what atproto
/// narrows: links to SHA-256 only, integers to 64 bits with sign, floats to 64 bits.
bool is_of_another_format(const json& about) {
  static const std::set<std::string> names = {
      "Big DASL CID",
      "largest CBOR integer, 2^64-1",
      "smallest CBOR integer, -(2^64)",
      "smallest unsigned bigint",
      "highest negative bigint",
      "map with equal int and float keys",
  };
  return names.contains(about.at("name").get<std::string>());
}

class Dasl : public testing::TestWithParam<Vector> {};

TEST_P(Dasl, is_judged_rightly) {
  SKUA_NEED_SHARED();
  const Vector& vector = GetParam();
  // What an encoder must refuse (invalid_out) our writer has no words for, and a reader refuses it.
  const bool legal = vector.about.at("type") == "roundtrip" && !is_of_another_format(vector.about);
  EXPECT_TRUE(legal ? round_trips(vector.bytes) : is_refused(vector.bytes));
}

INSTANTIATE_TEST_SUITE_P(Cases, Dasl, testing::ValuesIn(dasl_vectors()), NameOfVector());

std::vector<Vector> codec_fixtures() {
  std::vector<Vector> vectors;
  const auto shared = test::shared_dir();
  if (!shared) return or_placeholder({});
  namespace fs = std::filesystem;
  for (const auto& entry :
       fs::recursive_directory_iterator(*shared / "data/cbor/codec-fixtures/fixtures")) {
    if (entry.path().extension() != ".dag-cbor") continue;
    vectors.push_back({entry.path().parent_path().filename().string(),
                       test::read_file(entry.path()),
                       {},
                       entry.path().stem().string()});
  }
  std::sort(vectors.begin(), vectors.end(),
            [](const Vector& a, const Vector& b) { return a.name < b.name; });
  return or_placeholder(vectors);
}

class CodecFixture : public testing::TestWithParam<Vector> {};

TEST_P(CodecFixture, round_trips_unless_atproto_forbids_it) {
  SKUA_NEED_SHARED();
  const Vector& vector = GetParam();
  EXPECT_EQ(atproto::Cid::of(vector.bytes).to_string(), vector.cid);
  CborOptions options;
  options.allow_floats = true;
  atproto::Document document;
  const auto read = read_dag_cbor(vector.bytes, document, options);
  if (!read) {
    // Legal DAG-CBOR that atproto's data model leaves out.
    EXPECT_TRUE(read.error() == errc::cbor_bad_link || read.error() == errc::cbor_integer_range)
        << read.error().message();
    const bool has_links = vector.name.starts_with("cid-") || vector.name.starts_with("dagpb") ||
                           vector.name.starts_with("garbage");
    const bool has_large_integers =
        vector.name.starts_with("int-") || vector.name.starts_with("garbage");
    EXPECT_TRUE(read.error() == errc::cbor_bad_link ? has_links : has_large_integers);
    return;
  }
  EXPECT_TRUE(round_trips(vector.bytes));
}

INSTANTIATE_TEST_SUITE_P(Cases, CodecFixture, testing::ValuesIn(codec_fixtures()), NameOfVector());

class NegativeFixture : public testing::TestWithParam<JsonVector> {};

TEST_P(NegativeFixture, is_refused) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_TRUE(is_refused(test::from_hex(GetParam().text("hex"))));
}

INSTANTIATE_TEST_SUITE_P(
    DuplicateKeys, NegativeFixture,
    testing::ValuesIn(test::shared_entries(
        "cbor/codec-fixtures/negative-fixtures/dag-cbor/decode/duplicate-keys.json", "name")),
    test::NameOfEntry());

std::vector<Vector> appendix_vectors() {
  std::vector<Vector> vectors;
  const auto shared = test::shared_dir();
  if (!shared) return or_placeholder({});
  for (const json& c : json::parse(test::read_file(*shared / "data/cbor/appendix_a.json"))) {
    const auto hex = c.at("hex").get<std::string>();
    vectors.push_back({hex, test::from_hex(hex), c, {}});
  }
  return or_placeholder(vectors);
}

/// Which of the appendix's examples are legal here, said by their heads: no tags but 42, nothing
/// indefinite, no floats but finite ones of 64 bits, no simple values but three, no integer keys.
bool is_legal_example(const std::string& hex) {
  static const std::set<std::string> forbidden = {"1bffffffffffffffff",
                                                  "3bffffffffffffffff",
                                                  "f7",
                                                  "f0",
                                                  "f818",
                                                  "f8ff",
                                                  "a201020304",
                                                  "fb7ff0000000000000",
                                                  "fb7ff8000000000000",
                                                  "fbfff0000000000000"};
  if (forbidden.contains(hex)) return false;
  const bool is_tag = hex[0] == 'c' || hex[0] == 'd';
  const bool is_short_float = hex.starts_with("f9") || hex.starts_with("fa");
  return !is_tag && !is_short_float && !hex.ends_with("ff") && hex.find("9f") == std::string::npos;
}

class AppendixA : public testing::TestWithParam<Vector> {};

TEST_P(AppendixA, is_judged_rightly) {
  SKUA_NEED_SHARED();
  const Vector& vector = GetParam();
  EXPECT_TRUE(is_legal_example(vector.name) ? round_trips(vector.bytes) : is_refused(vector.bytes));
}

INSTANTIATE_TEST_SUITE_P(Cases, AppendixA, testing::ValuesIn(appendix_vectors()), NameOfVector());

class DataModelFixture : public testing::TestWithParam<JsonVector> {};

TEST_P(DataModelFixture, round_trips_and_has_its_cid) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const Bytes bytes = test::from_base64(GetParam().text("cbor_base64"));
  EXPECT_EQ(atproto::Cid::of(bytes).to_string(), GetParam().text("cid"));
  EXPECT_TRUE(round_trips(bytes));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, DataModelFixture,
    testing::ValuesIn(test::shared_entries("interop/data-model/data-model-fixtures.json", "cid")),
    test::NameOfEntry());

}  // namespace
}  // namespace skua::repo::cbor_vectors_test
