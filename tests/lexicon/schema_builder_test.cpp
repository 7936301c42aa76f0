#include "lexicon/schema_builder.hpp"

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "lexicon/lexicon_rules.hpp"
#include "support/json_vectors.hpp"

namespace skua::test::schema_builder_test {
namespace {

using lexicon::LexiconError;
using lexicon::SchemaBuilder;

class ValidDocument : public testing::TestWithParam<JsonVector> {};

TEST_P(ValidDocument, is_taken) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_NO_THROW(schema_of(GetParam().entry.at("lexicon")));
}

INSTANTIATE_TEST_SUITE_P(Interop, ValidDocument,
                         testing::ValuesIn(shared_entries("interop/lexicon/lexicon-valid.json",
                                                          "name")),
                         NameOfEntry());

class InvalidDocument : public testing::TestWithParam<JsonVector> {};

TEST_P(InvalidDocument, is_refused) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_THROW(schema_of(GetParam().entry.at("lexicon")), LexiconError);
}

INSTANTIATE_TEST_SUITE_P(Interop, InvalidDocument,
                         testing::ValuesIn(shared_entries("interop/lexicon/lexicon-invalid.json",
                                                          "name")),
                         NameOfEntry());

TEST(SchemaBuilderTest, takes_the_catalog_of_the_interop_tests) {
  SKUA_NEED_SHARED();
  for (const auto& file :
       std::filesystem::directory_iterator(*shared_dir() / "data/interop/lexicon/catalog")) {
    EXPECT_NO_THROW(schema_of(json::parse(read_file(file.path())))) << file.path();
  }
}

TEST(SchemaBuilderTest, takes_all_shared_lexicons_together) {
  SKUA_NEED_SHARED();
  SchemaBuilder builder;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(*shared_dir() / "data/lexicons")) {
    if (file.path().extension() != ".json") continue;
    const Bytes text = read_file(file.path());
    ASSERT_NO_THROW(builder.add(as_text(text))) << file.path();
  }
  const lexicon::Schema schema = std::move(builder).build();
  EXPECT_NE(schema.record("app.bsky.feed.post"), nullptr);
  EXPECT_EQ(schema.record("app.bsky.feed.defs"), nullptr);
}

/// A document with the definitions `defs`, as text.
std::string document_of(const json& defs, const std::string& id = "com.example.record") {
  return json{{"lexicon", 1}, {"id", id}, {"defs", defs}}.dump();
}

/// A document whose record has one field.
std::string with_field(const json& type) {
  const json record = {{"type", "object"}, {"properties", {{"field", type}}}};
  return document_of({{"main", {{"type", "record"}, {"record", record}}}});
}

struct Fault {
  const char* name;
  std::string document;
  std::string message;

  friend std::ostream& operator<<(std::ostream& out, const Fault& f) { return out << f.document; }
};

class FaultyDocument : public testing::TestWithParam<Fault> {};

TEST_P(FaultyDocument, is_refused_with_the_path) {
  SchemaBuilder builder;
  try {
    builder.add(GetParam().document);
    const lexicon::Schema schema = std::move(builder).build();
    FAIL() << "no error";
  } catch (const LexiconError& error) {
    EXPECT_EQ(error.what(), GetParam().message);
  }
}

std::string nested_arrays(int depth) {
  json type = {{"type", "integer"}};
  for (; depth > 0; --depth) type = {{"type", "array"}, {"items", type}};
  return with_field(type);
}

std::string name_of_fault(const testing::TestParamInfo<Fault>& info) {
  return info.param.name;
}

const std::string kField = "com.example.record: defs.main.record.properties.field";

INSTANTIATE_TEST_SUITE_P(
    Own, FaultyDocument,
    testing::ValuesIn(std::vector<Fault>{
        {"no_json", "{", "not JSON"},
        {"no_object", "[]", "must be an object"},
        {"no_id", R"({"lexicon": 1})", "id: must be an NSID"},
        {"version", R"({"lexicon": 2, "id": "a.b.c"})", "a.b.c: lexicon: must be 1"},
        {"no_defs", R"({"lexicon": 1, "id": "a.b.c"})",
         "a.b.c: defs: must be an object with definitions"},
        {"bad_name", document_of({{"a-b", {{"type", "string"}}}}),
         "com.example.record: defs.a-b: is not a name"},
        {"no_type", with_field(json::object()), kField + ".type: missing"},
        {"bad_type", with_field({{"type", "text"}}), kField + ".type: is not the name of a type"},
        {"bad_format", with_field({{"type", "string"}, {"format", "email"}}),
         kField + ".format: is not the name of a format"},
        {"bad_length", with_field({{"type", "string"}, {"maxLength", -1}}),
         kField + ".maxLength: must be from 0 to 4294967295"},
        {"bad_minimum", with_field({{"type", "integer"}, {"minimum", 1.5}}),
         kField + ".minimum: must be an integer"},
        {"big_maximum", with_field({{"type", "integer"}, {"maximum", 9223372036854775808U}}),
         kField + ".maximum: must be an integer"},
        {"empty_enum", with_field({{"type", "string"}, {"enum", json::array()}}),
         kField + ".enum: must not be empty"},
        {"no_items", with_field({{"type", "array"}}), kField + ".items: missing"},
        {"no_refs", with_field({{"type", "union"}}), kField + ".refs: missing"},
        {"bad_ref", with_field({{"type", "ref"}, {"ref", "x"}}),
         kField + ": must be the name of a definition"},
        {"missing_definition", with_field({{"type", "ref"}, {"ref", "#other"}}),
         "com.example.record#other: is not defined"},
        {"missing_member", with_field({{"type", "union"}, {"refs", {"com.example.other"}}}),
         "com.example.other: is not defined"},
        {"token",
         document_of({{"word", {{"type", "token"}}},
                      {"list",
                       {{"type", "array"}, {"items", {{"type", "ref"}, {"ref", "#word"}}}}}}),
         "com.example.record#word: is a definition without a value"},
        {"required_without_property",
         document_of({{"thing", {{"type", "object"}, {"required", {"a"}}}}}),
         "com.example.record: defs.thing.required: names no property: a"},
        {"deep", nested_arrays(40),
         "com.example.record: defs.main.record.properties.field" + repeated(".items", 31) +
             ": is nested too deeply"}}),
    name_of_fault);

TEST(SchemaBuilderTest, refuses_a_second_document_of_the_same_id) {
  SchemaBuilder builder;
  builder.add(with_field({{"type", "string"}}));
  EXPECT_THROW(builder.add(with_field({{"type", "string"}})), LexiconError);
}

TEST(SchemaBuilderTest, resolves_references_between_documents_and_to_themselves) {
  SchemaBuilder builder;
  builder.add(with_field({{"type", "ref"}, {"ref", "com.example.tree#main"}}));
  builder.add(document_of({{"main",
                            {{"type", "object"},
                             {"required", {"name"}},
                             {"properties",
                              {{"name", {{"type", "string"}}},
                               {"below", {{"type", "ref"}, {"ref", "com.example.tree"}}}}}}}},
                          "com.example.tree"));
  const lexicon::Schema schema = std::move(builder).build();
  const json leaf = {{"name", "leaf"}};
  EXPECT_EQ(
      violation_of(schema, "com.example.record", {{"field", {{"name", "root"}, {"below", leaf}}}}),
      std::nullopt);
  EXPECT_EQ(violation_of(schema, "com.example.record",
                         {{"field", {{"name", "root"}, {"below", {{"below", leaf}}}}}}),
            "field.below.name: missing");
}

}  // namespace
}  // namespace skua::test::schema_builder_test
