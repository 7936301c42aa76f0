#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "lexicon/schema_builder.hpp"
#include "lexicon_store/lexicon_table.hpp"

namespace skua::lexicon_store::view_columns_test {
namespace {

using nlohmann::json;

Document record_document(const json& properties, const json& more = json::object()) {
  json document = {{"lexicon", 1},
                   {"id", "test.made.note"},
                   {"defs",
                    {{"main",
                      {{"type", "record"},
                       {"key", "tid"},
                       {"record", {{"type", "object"}, {"properties", properties}}}}}}}};
  document["defs"].update(more);
  return read_document(document.dump());
}

std::vector<Column> columns_of(const Document& document) {
  const std::vector<Document> documents = {document};
  return view_columns(schema_of(documents), document);
}

std::string error_of(const std::string& text) {
  try {
    const std::vector<Document> documents = {read_document(text)};
    schema_of(documents);
  } catch (const lexicon::LexiconError& error) {
    return error.what();
  }
  return "";
}

TEST(ViewColumns, types_follow_the_lexicon) {
  const auto columns = columns_of(
      record_document({{"aText", {{"type", "string"}, {"description", "Says 'something'."}}},
                       {"bTime", {{"type", "string"}, {"format", "datetime"}}},
                       {"cCount", {{"type", "integer"}}},
                       {"dFlag", {{"type", "boolean"}}},
                       {"eList", {{"type", "array"}, {"items", {{"type", "string"}}}}},
                       {"fUri", {{"type", "string"}, {"format", "at-uri"}}},
                       {"gNamed", {{"type", "ref"}, {"ref", "#when"}}},
                       {"hPost", {{"type", "ref"}, {"ref", "com.atproto.repo.strongRef"}}}},
                      {{"when", {{"type", "string"}, {"format", "datetime"}}}}));
  const std::vector<Column> expected = {
      {"a_text", "aText", "text", "Says 'something'."},
      {"b_time", "bTime", "timestamptz", "The property bTime of the record."},
      {"c_count", "cCount", "int8", "The property cCount of the record."},
      {"d_flag", "dFlag", "boolean", "The property dFlag of the record."},
      {"e_list", "eList", "jsonb", "The property eList of the record."},
      {"f_uri", "fUri", "text", "The property fUri of the record."},
      {"g_named", "gNamed", "timestamptz", "The property gNamed of the record."},
      {"h_post", "hPost", "jsonb", "The property hPost of the record."}};
  EXPECT_EQ(columns, expected);
}

TEST(ViewColumns, names_are_unique_identifiers) {
  const std::string longest(200, 'x');
  json properties;
  for (const std::string& key :
       {std::string("did"), std::string("uri"), std::string("xmin"), std::string("fooBar"),
        std::string("foo_bar"), std::string("foo-bar"), std::string("\"; DROP TABLE x; --"),
        std::string(""), std::string("größe"), std::string("rkey_text"), longest, longest + "y"}) {
    properties[key] = {{"type", "string"}};
  }
  std::set<std::string> names;
  for (const Column& column : columns_of(record_document(properties))) {
    EXPECT_LE(column.name.size(), 63U);
    EXPECT_EQ(column.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string::npos)
        << column.name;
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_LE(index_name(2'147'483'647, column).size(), 63U);
  }
  for (const char* name : {"did_2", "uri_2", "xmin_2", "foo_bar", "foo_bar_2", "foo_bar_3"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_FALSE(names.contains("did"));
}

TEST(ViewColumns, identifiers) {
  EXPECT_EQ(identifier("test.kitchen-garden.plotSize"), "test_kitchen_garden_plot_size");
  EXPECT_EQ(identifier("aDIDDoc"), "a_did_doc");
  EXPECT_EQ(identifier("sha256Hash"), "sha256_hash");
  EXPECT_NE(hashed_identifier("test.a-b.c"), hashed_identifier("test.a.b.c"));
  EXPECT_NE(identifier(std::string(80, 'a')), identifier(std::string(81, 'a')));
  EXPECT_EQ(identifier(std::string(80, 'a')).size(), 63U);
}

TEST(ViewColumns, a_change_of_the_type_changes_the_index) {
  Column column = {.name = "a", .key = "a", .type = "text", .comment = ""};
  const std::string name = index_name(1007, column);
  EXPECT_TRUE(name.starts_with(index_prefix(1007)));
  column.comment = "changed";
  EXPECT_EQ(index_name(1007, column), name);
  column.type = "int8";
  EXPECT_NE(index_name(1007, column), name);
}

TEST(ViewColumns, too_many_properties_are_refused) {
  json properties;
  for (std::size_t i = 0; i <= kMaxProperties; ++i) {
    properties["p" + std::to_string(i)] = {{"type", "integer"}};
  }
  EXPECT_THROW(columns_of(record_document(properties)), lexicon::LexiconError);
  properties.erase("p0");
  EXPECT_EQ(columns_of(record_document(properties)).size(), kMaxProperties);
}

TEST(LexiconDocument, hostile_documents_are_refused) {
  EXPECT_EQ(error_of("{"), "not JSON");
  EXPECT_EQ(error_of("[]"), "must be an object");
  EXPECT_EQ(error_of("{}"), "id: must be an NSID");
  EXPECT_EQ(error_of(std::string(kMaxDocument + 1, ' ')), "has more than 1000000 bytes");
  EXPECT_EQ(error_of(std::string(500'000, '[')), "is nested too deeply");
  EXPECT_EQ(error_of(R"({"id":"test.made.note","x\u0000":1})"), "has a NUL in a text");
  EXPECT_EQ(error_of(R"({"id":"test.made.note","x":["\u0000"]})"), "has a NUL in a text");
  EXPECT_EQ(error_of("{\"id\":\"test.made.note\",\"x\":\"\xff\"}"), "not JSON");
  EXPECT_EQ(error_of(record_document({{"a", {{"type", "ref"}, {"ref", "test.made.defs#b"}}}}).json),
            "test.made.defs#b: is not defined");
}

TEST(LexiconDocument, built_in_ids_are_known) {
  EXPECT_TRUE(is_built_in("app.bsky.feed.post"));
  EXPECT_TRUE(is_built_in("com.atproto.repo.strongRef"));
  EXPECT_FALSE(is_built_in("test.made.note"));
}

}  // namespace
}  // namespace skua::lexicon_store::view_columns_test
