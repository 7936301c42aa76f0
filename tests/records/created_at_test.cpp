#include "records/record_rules.hpp"

namespace skua::test::created_at_test {
namespace {

using records::Block;

json at(const json& created_at) {
  return {{"$type", "app.bsky.graph.block"}, {"subject", kDid}, {"createdAt", created_at}};
}

struct Form {
  std::string name;
  std::string text;
  std::string instant;  // empty: not a datetime
  /// Whether the instant gives the text back.
  bool exact = true;
};

class CreatedAt : public testing::TestWithParam<Form> {};

INSTANTIATE_TEST_SUITE_P(
    Forms, CreatedAt,
    testing::Values(
        Form{"seconds", "2026-07-04T14:38:08Z", "2026-07-04T14:38:08.000000Z", false},
        Form{"milliseconds", "2026-07-04T14:38:08.085Z", "2026-07-04T14:38:08.085000Z"},
        Form{"microseconds", "2026-07-04T14:38:08.123456Z", "2026-07-04T14:38:08.123456Z"},
        Form{"needless_digits", "2026-07-04T14:38:08.085000Z", "2026-07-04T14:38:08.085000Z",
             false},
        Form{"offset", "2026-07-04T14:38:08.085+02:00", "2026-07-04T12:38:08.085000Z", false},
        Form{"utc_as_offset", "2026-07-04T14:38:08.085+00:00", "2026-07-04T14:38:08.085000Z",
             false},
        Form{"year_0000", "0000-01-01T00:00:00.000Z", "0001-01-02T00:00:00.000000Z", false},
        Form{"year_0001", "0001-01-01T00:00:00.000Z", "0001-01-02T00:00:00.000000Z", false},
        Form{"first", "0001-01-02T00:00:00.000Z", "0001-01-02T00:00:00.000000Z"},
        Form{"last", "9999-12-30T00:00:00.000Z", "9999-12-30T00:00:00.000000Z"},
        Form{"year_9999", "9999-12-31T23:59:59Z", "9999-12-30T00:00:00.000000Z", false},
        Form{"nanoseconds", "2026-07-04T14:38:08.123456789Z", "2026-07-04T14:38:08.123456Z", false},
        Form{"trailing_zeros", "2026-07-04T14:38:08.123456000Z", "2026-07-04T14:38:08.123456Z",
             false},
        Form{"word", "yesterday", ""}, Form{"empty", "", ""}, Form{"date_alone", "2026-07-04", ""},
        Form{"no_zone", "2026-07-04T14:38:08", ""},
        Form{"no_such_month", "2026-13-04T14:38:08Z", ""}),
    [](const auto& form) { return form.param.name; });

TEST_P(CreatedAt, is_an_instant_or_a_fault) {
  const Form& form = GetParam();
  if (form.instant.empty()) {
    const DecodedJson decoded(Block::kCollection, at(form.text));
    EXPECT_EQ(decoded->invalid_reason, "createdAt: not a datetime");
    EXPECT_EQ(json::parse(decoded->json), at(form.text));
    return;
  }
  const Valid<Block> block(at(form.text));
  ASSERT_TRUE(block->created_at);
  EXPECT_EQ(format_datetime(*block->created_at), form.instant);
  // What the instant lost is kept as text.
  EXPECT_EQ(block->extra, form.exact ? "" : json({{"createdAt", form.text}}).dump());
}

}  // namespace
}  // namespace skua::test::created_at_test
