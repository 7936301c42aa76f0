// A repository whose blocks all lie decoded beside it: what another implementation read from them.

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "records/json_text.hpp"
#include "repo/car.hpp"
#include "repo/dag_cbor.hpp"
#include "support/json_vectors.hpp"

namespace skua::event::decoded_repository_test {
namespace {

using nlohmann::json;
using test::JsonVector;

std::vector<JsonVector> decoded_blocks() {
  const auto shared = test::shared_dir();
  if (!shared) return {{"needs ../shared", {}, 0, false}};
  std::vector<JsonVector> blocks;
  const json file = json::parse(test::read_file(*shared / "data/repos/php_car_repo.json"));
  for (const auto& [cid, block] : file.at("blocks").items()) {
    blocks.push_back({cid, block, blocks.size(), true});
  }
  return blocks;
}

/// Our JSON in the form of that file: links, bytes and integers are plain texts.
json as_plain_texts(const json& value) {
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  if (value.is_array()) {
    json list = json::array();
    for (const json& item : value) list.push_back(as_plain_texts(item));
    return list;
  }
  if (!value.is_object()) return value;
  if (value.contains("$link")) return value.at("$link");
  if (value.contains("$bytes")) {
    const auto bytes = test::from_base64(value.at("$bytes").get<std::string>());
    return std::string(bytes.begin(), bytes.end());
  }
  json map = json::object();
  for (const auto& [key, item] : value.items()) map[key] = as_plain_texts(item);
  return map;
}

/// The repository, read once.
const repo::LoadedCar& loaded_car() {
  struct Car {
    Car() : bytes(test::read_file(*test::shared_dir() / "data/repos/php_car_repo.car")) {
      EXPECT_TRUE(repo::load_car(bytes, loaded));
    }
    const Bytes bytes;
    repo::LoadedCar loaded;
  };
  static const Car car;
  return car.loaded;
}

class DecodedBlock : public testing::TestWithParam<JsonVector> {};

TEST_P(DecodedBlock, says_the_same) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const auto cid = atproto::Cid::parse(GetParam().name);
  ASSERT_TRUE(cid);
  const auto block = loaded_car().blocks.find(cid->digest);
  ASSERT_NE(block, loaded_car().blocks.end());
  atproto::Document document;
  const auto read = repo::read_dag_cbor(block->second, document);
  ASSERT_TRUE(read) << read.error().message();
  std::string text;
  records::append_json(text, document.root());
  json ours = as_plain_texts(json::parse(text));
  json theirs = GetParam().entry;
  // A signature is no text, and the file lost a part of it.
  if (theirs.contains("sig")) {
    theirs.erase("sig");
    ours.erase("sig");
  }
  EXPECT_EQ(ours, theirs);
}

INSTANTIATE_TEST_SUITE_P(PhpCarRepo, DecodedBlock, testing::ValuesIn(decoded_blocks()),
                         test::NameOfEntry());

TEST(DecodedRepository, has_every_block_decoded) {
  SKUA_NEED_SHARED();
  const auto blocks = decoded_blocks();
  EXPECT_EQ(loaded_car().blocks.size(), blocks.size());
  const auto is_commit = [](const JsonVector& block) { return block.entry.contains("sig"); };
  const auto commit = std::find_if(blocks.begin(), blocks.end(), is_commit);
  ASSERT_NE(commit, blocks.end());
  EXPECT_EQ(loaded_car().roots, std::vector{*atproto::Cid::parse(commit->name)});
}

}  // namespace
}  // namespace skua::event::decoded_repository_test
