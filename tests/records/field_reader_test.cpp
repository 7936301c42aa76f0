// The formats of the lexicons where records meet them: each line of the public vectors stands in a
// field of its format, and is the record's fault or not.

#include "records/field_reader.hpp"

#include <functional>
#include <ostream>

#include "records/record_rules.hpp"
#include "support/test_vectors.hpp"

namespace skua::test::field_reader_test {
namespace {

/// A field of a format in the smallest record that has one.
struct FormatField {
  std::string format;
  std::string collection;
  std::string path;
  std::string fault;
  std::function<json(const std::string& text)> record;
};

const std::string kTime = "2026-07-04T14:38:08.000Z";

FormatField did_field() {
  return {"did", "app.bsky.graph.follow", "subject", "not a DID", [](const std::string& text) {
            return json{{"subject", text}, {"createdAt", kTime}};
          }};
}

FormatField at_uri_field() {
  return {"aturi", "app.bsky.feed.threadgate", "post", "not an AT-URI",
          [](const std::string& text) {
            return json{{"post", text}, {"createdAt", kTime}};
          }};
}

FormatField cid_field() {
  return {"cid", "app.bsky.feed.like", "subject.cid", "not a CID", [](const std::string& text) {
            const std::string uri = uri_of(kDid, "app.bsky.feed.post", "3jquh3dxgi52o");
            return json{{"subject", {{"uri", uri}, {"cid", text}}}, {"createdAt", kTime}};
          }};
}

FormatField legacy_blob_field() {
  return {"cid", "app.bsky.actor.profile", "avatar.cid", "not a CID", [](const std::string& text) {
            return json{{"avatar", {{"cid", text}, {"mimeType", "image/png"}}}};
          }};
}

FormatField datetime_field() {
  return {"datetime", "app.bsky.feed.post", "createdAt", "not a datetime",
          [](const std::string& text) {
            return json{{"text", ""}, {"createdAt", text}};
          }};
}

FormatField uri_field() {
  return {"uri", "app.bsky.feed.post", "embed.external.uri", "not a URI",
          [](const std::string& text) {
            const json external = {{"uri", text}, {"title", ""}, {"description", ""}};
            return json{{"text", ""},
                        {"createdAt", kTime},
                        {"embed", {{"$type", "app.bsky.embed.external"}, {"external", external}}}};
          }};
}

FormatField language_field() {
  return {"language", "app.bsky.feed.post", "langs[1]", "not a language tag",
          [](const std::string& text) {
            return json{{"text", ""}, {"createdAt", kTime}, {"langs", {"en", text}}};
          }};
}

FormatField handle_field() {
  return {
      "handle", "app.bsky.graph.verification", "handle", "not a handle",
      [](const std::string& text) {
        return json{{"subject", kDid}, {"handle", text}, {"displayName", ""}, {"createdAt", kTime}};
      }};
}

FormatField nsid_field() {
  return {"nsid", "app.bsky.labeler.service", "subjectCollections[0]", "not an NSID",
          [](const std::string& text) {
            return json{{"policies", {{"labelValues", json::array()}}},
                        {"subjectCollections", json::array({text})},
                        {"createdAt", kTime}};
          }};
}

struct FieldCase {
  FormatField field;
  LineVector line;
  bool valid = false;

  friend std::ostream& operator<<(std::ostream& out, const FieldCase& c) {
    return out << c.field.path << ", " << c.line;
  }
};

struct NameOfField {
  std::string operator()(const testing::TestParamInfo<FieldCase>& info) const {
    return (info.param.valid ? "valid_" : "invalid_") + NameOfLine()(LineInfo{info.param.line});
  }

 private:
  struct LineInfo {
    const LineVector& param;
  };
};

/// The public vectors of a field's format.
std::vector<FieldCase> cases_of(const FormatField& field) {
  std::vector<FieldCase> cases;
  for (const bool valid : {true, false}) {
    for (const LineVector& line : shared_lines("interop/syntax/" + field.format + "_syntax_" +
                                               (valid ? "valid.txt" : "invalid.txt"))) {
      cases.push_back({field, line, valid});
    }
  }
  return cases;
}

class FieldFormats : public testing::TestWithParam<FieldCase> {};

TEST_P(FieldFormats, are_judged_in_the_record) {
  if (!GetParam().line.available) SKUA_NEED_SHARED();
  const FormatField& field = GetParam().field;
  const json record = field.record(GetParam().line.text);
  const DecodedJson decoded(field.collection, record, "self");
  if (GetParam().valid) {
    EXPECT_FALSE(decoded->invalid_reason) << *decoded->invalid_reason;
  } else {
    EXPECT_EQ(decoded->invalid_reason, field.path + ": " + field.fault);
    EXPECT_EQ(json::parse(decoded->json), record);  // and yet it is kept
  }
}

INSTANTIATE_TEST_SUITE_P(Did, FieldFormats, testing::ValuesIn(cases_of(did_field())),
                         NameOfField());
INSTANTIATE_TEST_SUITE_P(AtUri, FieldFormats, testing::ValuesIn(cases_of(at_uri_field())),
                         NameOfField());
INSTANTIATE_TEST_SUITE_P(Cid, FieldFormats, testing::ValuesIn(cases_of(cid_field())),
                         NameOfField());
INSTANTIATE_TEST_SUITE_P(CidOfALegacyBlob, FieldFormats,
                         testing::ValuesIn(cases_of(legacy_blob_field())), NameOfField());
INSTANTIATE_TEST_SUITE_P(Datetime, FieldFormats, testing::ValuesIn(cases_of(datetime_field())),
                         NameOfField());
INSTANTIATE_TEST_SUITE_P(Uri, FieldFormats, testing::ValuesIn(cases_of(uri_field())),
                         NameOfField());
INSTANTIATE_TEST_SUITE_P(Language, FieldFormats, testing::ValuesIn(cases_of(language_field())),
                         NameOfField());
INSTANTIATE_TEST_SUITE_P(Handle, FieldFormats, testing::ValuesIn(cases_of(handle_field())),
                         NameOfField());
INSTANTIATE_TEST_SUITE_P(Nsid, FieldFormats, testing::ValuesIn(cases_of(nsid_field())),
                         NameOfField());
INSTANTIATE_TEST_SUITE_P(Own, FieldFormats,
                         testing::ValuesIn(std::vector<FieldCase>{
                             {did_field(), {"did:web:a.example", 1}, true},
                             {did_field(), {"alice.example", 2}, false},
                             {at_uri_field(), {"at://did:web:a.example", 3}, true},
                             {at_uri_field(), {"at://did:web:a.example/post", 4}, false},
                             {cid_field(), {"bagcqcera", 5}, true},
                             {cid_field(), {"bafy", 6}, false},
                             {cid_field(), {"QmbHasNoVersionByteAndIsOfTheOldForm", 7}, false},
                             {legacy_blob_field(), {"bagcqcera", 8}, true},
                             {legacy_blob_field(), {"QmbHasNoVersionByte", 9}, false},
                             {datetime_field(), {"2026-07-04T14:38:08+02:00", 10}, true},
                             {datetime_field(), {"2026-07-04", 11}, false},
                             {uri_field(), {"dns:a.example", 12}, true},
                             {uri_field(), {"a.example", 13}, false},
                             {language_field(), {"pt-BR", 14}, true},
                             {language_field(), {"no language", 15}, false},
                             {language_field(), {"", 16}, false},
                             {handle_field(), {"alice.example", 17}, true},
                             {handle_field(), {"alice", 18}, false},
                             {nsid_field(), {"app.bsky.feed.post", 19}, true},
                             {nsid_field(), {"post", 20}, false},
                         }),
                         NameOfField());

/// The grammar allows these, although they repeat a subtag. They stand in the table as the author
/// wrote them.
class RepeatedSubtag : public testing::TestWithParam<LineVector> {};

TEST_P(RepeatedSubtag, is_kept_as_it_is) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const Valid<records::Post> post(json{{"$type", "app.bsky.feed.post"},
                                       {"text", ""},
                                       {"createdAt", kTime},
                                       {"langs", {"en", GetParam().text}}});
  EXPECT_EQ(post->langs, (records::TextList{"en", GetParam().text}));
  EXPECT_EQ(post->extra, "");
}

INSTANTIATE_TEST_SUITE_P(
    Interop, RepeatedSubtag,
    testing::ValuesIn(shared_lines("interop/syntax/language_parse_invalid.txt")), NameOfLine());

}  // namespace
}  // namespace skua::test::field_reader_test
