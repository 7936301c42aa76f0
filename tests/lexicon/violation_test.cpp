// Each type of the lexicon language with values at its limits.

#include "lexicon/violation.hpp"

#include <ostream>
#include <string>
#include <vector>

#include "lexicon/lexicon_rules.hpp"

namespace skua::test::violation_test {
namespace {

/// A value of a field, and what is wrong with it; an empty fault: nothing.
struct Case {
  const char* name;
  json type;
  json value;
  std::string fault;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.type.dump() << ' ' << c.value.dump(-1, ' ', true).substr(0, 200);
  }
};

class FieldOfType : public testing::TestWithParam<Case> {};

TEST_P(FieldOfType, is_judged) {
  const Case& c = GetParam();
  const auto violation =
      violation_of(schema_of_fields({{"f", c.type}}), "com.example.record", {{"f", c.value}});
  EXPECT_EQ(violation.value_or(""), c.fault);
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

json type(const char* name, json limits = json::object()) {
  limits["type"] = name;
  return limits;
}

const json kBytes = {{"$bytes", "AQID"}};  // three
const json kLink = {{"$link", "bafyreid27zk7lbis4zw5fz4podbvbs4fc5ivwji3dmrwa6zggnj4bnd57u"}};

INSTANTIATE_TEST_SUITE_P(
    Scalars, FieldOfType,
    testing::ValuesIn(std::vector<Case>{
        {"boolean", type("boolean"), true, ""},
        {"boolean_as_integer", type("boolean"), 1, "f: must be a boolean"},
        {"boolean_const", type("boolean", {{"const", true}}), true, ""},
        {"boolean_other", type("boolean", {{"const", true}}), false, "f: not an allowed value"},
        {"integer", type("integer"), -5, ""},
        {"integer_as_text", type("integer"), "5", "f: must be an integer"},
        {"integer_low", type("integer", {{"minimum", 0}}), -1, "f: less than 0"},
        {"integer_least", type("integer", {{"minimum", 0}}), 0, ""},
        {"integer_most", type("integer", {{"maximum", 255}}), 255, ""},
        {"integer_high", type("integer", {{"maximum", 255}}), 256, "f: more than 255"},
        {"integer_enum", type("integer", {{"enum", {4, 9}}}), 9, ""},
        {"integer_not_in_enum", type("integer", {{"enum", {4, 9}}}), 5, "f: not an allowed value"},
        {"integer_const", type("integer", {{"const", 42}}), 41, "f: not an allowed value"},
        {"null", type("null"), nullptr, ""},
        {"null_as_text", type("null"), "", "f: must be null"},
        {"bytes", type("bytes", {{"minLength", 3}, {"maxLength", 3}}), kBytes, ""},
        {"bytes_short", type("bytes", {{"minLength", 4}}), kBytes, "f: fewer than 4 bytes"},
        {"bytes_long", type("bytes", {{"maxLength", 2}}), kBytes, "f: more than 2 bytes"},
        {"bytes_as_text", type("bytes"), "AQID", "f: must be bytes"},
        {"link", type("cid-link"), kLink, ""},
        {"link_as_text", type("cid-link"), kLink["$link"], "f: must be a link"},
        {"null_is_no_value", type("string"), nullptr, "f: must be a string"}}),
    name_of_case);

const json kLengths = type("string", {{"minLength", 2}, {"maxLength", 4}});
const json kGraphemes = type("string", {{"minGraphemes", 2}, {"maxGraphemes", 3}});
const std::string kFamily = "👨‍👩‍👧‍👧";

INSTANTIATE_TEST_SUITE_P(
    Strings, FieldOfType,
    testing::ValuesIn(std::vector<Case>{
        {"text", type("string"), "", ""},
        {"list", type("string"), json::array(), "f: must be a string"},
        {"short_text", kLengths, "a", "f: fewer than 2 bytes"},
        {"shortest", kLengths, "é", ""},
        {"longest", kLengths, "éé", ""},
        {"long_text", kLengths, "aéé", "f: more than 4 bytes"},
        {"few_graphemes", kGraphemes, "a", "f: fewer than 2 graphemes"},
        {"few_graphemes_of_many_bytes", kGraphemes, kFamily, "f: fewer than 2 graphemes"},
        {"least_graphemes", kGraphemes, "ab", ""},
        {"most_graphemes", kGraphemes, repeated(kFamily, 3), ""},
        {"many_graphemes", kGraphemes, repeated(kFamily, 4), "f: more than 3 graphemes"},
        {"many_letters", kGraphemes, "abcd", "f: more than 3 graphemes"},
        {"one_of", type("string", {{"enum", {"a", "b"}}}), "b", ""},
        {"none_of", type("string", {{"enum", {"a", "b"}}}), "c", "f: not an allowed value"},
        {"const_text", type("string", {{"const", "a"}}), "b", "f: not an allowed value"},
        {"known_values_are_open", type("string", {{"knownValues", {"a"}}}), "b", ""}}),
    name_of_case);

Case format(const char* name, const char* format, const char* text, const char* fault) {
  return {name, type("string", {{"format", format}}), text, *fault == '\0' ? "" : fault};
}

INSTANTIATE_TEST_SUITE_P(
    Formats, FieldOfType,
    testing::ValuesIn(std::vector<Case>{
        format("identifier", "at-identifier", "alice.example", ""),
        format("identifier_did", "at-identifier", kDid, ""),
        format("no_identifier", "at-identifier", "alice", "f: not a DID or handle"),
        format("at_uri", "at-uri", kUri, ""),
        format("no_at_uri", "at-uri", "https://a.example", "f: not an AT-URI"),
        format("cid", "cid", "bafyreid27zk7lbis4zw5fz4podbvbs4fc5ivwji3dmrwa6zggnj4bnd57u", ""),
        format("no_cid", "cid", "bafy", "f: not a CID"),
        format("datetime", "datetime", kTime, ""),
        format("no_datetime", "datetime", "2026-07-04", "f: not a datetime"),
        format("did", "did", kDid, ""),
        format("no_did", "did", "alice.example", "f: not a DID"),
        format("handle", "handle", "alice.example", ""),
        format("no_handle", "handle", kDid, "f: not a handle"),
        format("language", "language", "pt-BR", ""),
        format("no_language", "language", "JA", "f: not a language tag"),
        format("nsid", "nsid", "app.bsky.feed.post", ""),
        format("no_nsid", "nsid", "app", "f: not an NSID"),
        format("record_key", "record-key", "self", ""),
        format("no_record_key", "record-key", "..", "f: not a record key"),
        format("tid", "tid", "3jquh3dxgi52o", ""),
        format("no_tid", "tid", "self", "f: not a TID"),
        format("uri", "uri", "https://a.example", ""),
        format("no_uri", "uri", "a.example", "f: not a URI")}),
    name_of_case);

json changed(json value, const char* key, const json& other) {
  if (other.is_null()) {
    value.erase(key);
  } else {
    value[key] = other;
  }
  return value;
}

const json kImage = type("blob", {{"accept", {"image/*", "video/mp4"}}, {"maxSize", 1000}});
const json kLegacy = {{"cid", kLink["$link"]}, {"mimeType", "text/plain"}};

INSTANTIATE_TEST_SUITE_P(
    Blobs, FieldOfType,
    testing::ValuesIn(std::vector<Case>{
        {"blob", kImage, blob("image/png", 1000), ""},
        {"whole_type", kImage, blob("video/mp4", 1), ""},
        {"other_type", kImage, blob("video/webm", 1), "f.mimeType: not an accepted type"},
        {"like_a_type", kImage, blob("image", 1), "f.mimeType: not an accepted type"},
        {"too_large", kImage, blob("image/png", 1001), "f.size: more than 1000 bytes"},
        {"any_type", type("blob", {{"accept", {"*/*"}}}), blob("a/b", 1), ""},
        {"no_limits", type("blob"), blob("a/b", 9'000'000'000), ""},
        {"size_as_text", kImage, changed(blob("image/png", 1), "size", "1"),
         "f.size: must be an integer"},
        {"no_size", kImage, changed(blob("image/png", 1), "size", nullptr), "f.size: missing"},
        {"no_ref", kImage, changed(blob("image/png", 1), "ref", nullptr), "f.ref: missing"},
        {"ref_as_text", kImage, changed(blob("image/png", 1), "ref", "a"), "f.ref: must be a link"},
        {"no_mime_type", kImage, changed(blob("image/png", 1), "mimeType", nullptr),
         "f.mimeType: missing"},
        {"mime_type_as_integer", kImage, changed(blob("image/png", 1), "mimeType", 1),
         "f.mimeType: must be a string"},
        {"another_object", kImage, {{"$type", "com.example.blob"}}, "f: must be a blob"},
        {"a_text", kImage, "blob", "f: must be a blob"},
        {"legacy", kImage, kLegacy, ""},
        {"legacy_without_type", kImage, changed(kLegacy, "mimeType", nullptr),
         "f.mimeType: missing"},
        {"legacy_without_cid", kImage, changed(kLegacy, "cid", "bafy"), "f.cid: not a CID"}}),
    name_of_case);

const json kList = type("array", {{"items", type("integer")}, {"minLength", 1}, {"maxLength", 2}});
const json kPerson =
    type("object", {{"required", {"name"}},
                    {"nullable", {"age"}},
                    {"properties", {{"name", type("string")}, {"age", type("integer")}}}});

INSTANTIATE_TEST_SUITE_P(
    Containers, FieldOfType,
    testing::ValuesIn(std::vector<Case>{
        {"full_list", kList, {1, 2}, ""},
        {"empty_list", kList, json::array(), "f: fewer than 1 items"},
        {"long_list", kList, {1, 2, 3}, "f: more than 2 items"},
        {"list_of_others", kList, {1, "a"}, "f[1]: must be an integer"},
        {"map_as_list", kList, json::object(), "f: must be a list"},
        {"object", kPerson, {{"name", "a"}, {"age", 1}, {"more", {1}}}, ""},
        {"nullable", kPerson, {{"name", "a"}, {"age", nullptr}}, ""},
        {"required_null", kPerson, {{"name", nullptr}}, "f.name: must be a string"},
        {"missing", kPerson, {{"age", 1}}, "f.name: missing"},
        {"wrong_field", kPerson, {{"name", "a"}, {"age", "b"}}, "f.age: must be an integer"},
        {"list_as_object", kPerson, json::array(), "f: must be an object"},
        {"unknown", type("unknown"), {{"a", {1, nullptr}}}, ""},
        {"unknown_boolean", type("unknown"), true, "f: must be an object"},
        {"unknown_bytes", type("unknown"), kBytes, "f: must be an object"},
        {"unknown_blob", type("unknown"), blob(), "f: must be an object"},
        {"unknown_list", type("unknown"), {1}, "f: must be an object"}}),
    name_of_case);

/// A document whose record has an open and a closed union of `#a`, and a list of itself.
lexicon::Schema schema_of_unions() {
  const json refs = {"#a", "com.example.record#b"};
  const json record =
      type("object", {{"properties",
                       {{"open", type("union", {{"refs", refs}})},
                        {"closed", type("union", {{"refs", refs}, {"closed", true}})},
                        {"again", type("ref", {{"ref", "com.example.record"}})}}}});
  const json a = type("object", {{"required", {"x"}}, {"properties", {{"x", type("integer")}}}});
  return schema_of({{"lexicon", 1},
                    {"id", "com.example.record"},
                    {"defs",
                     {{"main", {{"type", "record"}, {"key", "any"}, {"record", record}}},
                      {"a", a},
                      {"b", type("object", {{"properties", json::object()}})}}}});
}

std::string union_fault(const char* field, const json& value) {
  static const lexicon::Schema schema = schema_of_unions();
  return violation_of(schema, "com.example.record", {{field, value}}).value_or("");
}

TEST(UnionTest, checks_the_types_that_it_knows) {
  const json valid = {{"$type", "com.example.record#a"}, {"x", 1}};
  for (const char* field : {"open", "closed"}) {
    const std::string path = field;
    EXPECT_EQ(union_fault(field, valid), "");
    EXPECT_EQ(union_fault(field, {{"$type", "com.example.record#b"}}), "");
    EXPECT_EQ(union_fault(field, {{"$type", "com.example.record#a"}}), path + ".x: missing");
    EXPECT_EQ(union_fault(field, {{"x", 1}}), path + ".$type: missing");
    EXPECT_EQ(union_fault(field, {{"$type", 7}}), path + ".$type: must be the name of a type");
    EXPECT_EQ(union_fault(field, {{"$type", ""}}), path + ".$type: must be the name of a type");
    EXPECT_EQ(union_fault(field, "a"), path + ": must be an object");
  }
}

TEST(UnionTest, takes_other_types_if_it_is_open) {
  const json other = {{"$type", "com.example.other"}, {"x", "y"}};
  EXPECT_EQ(union_fault("open", other), "");
  EXPECT_EQ(union_fault("closed", other), "closed.$type: not an allowed type");
}

TEST(UnionTest, knows_the_main_definition_by_both_names) {
  const json inner = {{"$type", "com.example.record"}, {"open", {{"$type", ""}}}};
  EXPECT_EQ(union_fault("again", inner), "again.open.$type: must be the name of a type");
  const json properties = {{"f", type("union", {{"refs", {"com.example.record"}}})}};
  const lexicon::Schema schema = schema_of_fields(properties);
  for (const char* name : {"com.example.record", "com.example.record#main"}) {
    const json value = {{"$type", name}, {"f", 1}};
    EXPECT_EQ(violation_of(schema, "com.example.record", {{"f", value}}), "f.f: must be an object");
  }
}

TEST(ViolationTest, ends_at_a_depth) {
  static const lexicon::Schema schema = schema_of_unions();
  json record = json::object();
  for (int depth = 0; depth < 120; ++depth) record = {{"again", record}};
  EXPECT_EQ(violation_of(schema, "com.example.record", record), std::nullopt);
}

TEST(ViolationTest, of_the_record_itself_says_record) {
  EXPECT_EQ(violation_of(schema_of_fields(json::object()), "com.example.record", json::array()),
            "record: must be an object");
}

}  // namespace
}  // namespace skua::test::violation_test
