#include "lexicon/built_in.hpp"

#include <filesystem>
#include <set>
#include <string>

#include "lexicon/lexicon_rules.hpp"
#include "support/shared_data.hpp"

namespace skua::test::built_in_test {
namespace {

/// The members of a type that are constraints. Descriptions, defaults and known values are none.
const std::set<std::string> kConstraints = {
    "type",         "key",     "record",  "properties", "required",  "nullable",  "items",
    "ref",          "refs",    "closed",  "format",     "minLength", "maxLength", "minGraphemes",
    "maxGraphemes", "minimum", "maximum", "enum",       "const",     "accept",    "maxSize"};
/// Lists whose order means nothing.
const std::set<std::string> kSets = {"required", "nullable", "refs", "enum", "accept"};

/// The constraints of a type, in one form.
json constraints_of(const json& type) {
  json result;
  for (const auto& [key, value] : type.items()) {
    if (!kConstraints.contains(key)) continue;
    if (kSets.contains(key)) {
      const std::set<json> sorted(value.begin(), value.end());
      result[key] = sorted;
    } else if (key == "properties") {
      result[key] = json::object();
      for (const auto& [name, property] : value.items()) {
        result[key][name] = constraints_of(property);
      }
    } else {
      result[key] = value.is_object() ? constraints_of(value) : value;
    }
  }
  return result;
}

TEST(BuiltInTest, all_documents_make_a_schema) {
  const lexicon::Schema& schema = lexicon::built_in_schema();
  EXPECT_NE(schema.record("app.bsky.feed.post"), nullptr);
  EXPECT_EQ(schema.record("com.atproto.repo.strongRef"), nullptr);
}

TEST(BuiltInTest, a_union_may_name_a_type_by_main) {
  const json images = {{"$type", "app.bsky.embed.images#main"}, {"images", 7}};
  EXPECT_EQ(violation_of(lexicon::built_in_schema(), "app.bsky.feed.post",
                         {{"text", ""}, {"createdAt", kTime}, {"embed", images}}),
            "embed.images: must be a list");
}

TEST(BuiltInTest, every_constraint_is_that_of_the_published_lexicon) {
  SKUA_NEED_SHARED();
  const std::set<std::string> elsewhere = {"chat.bsky.actor.declaration",
                                           "com.germnetwork.declaration"};
  std::set<std::string> skipped;
  std::size_t compared = 0;
  for (const std::string_view text : lexicon::built_in_documents()) {
    const json ours = json::parse(text);
    std::string path = ours["id"];
    for (char& c : path) c = c == '.' ? '/' : c;
    const auto file = *shared_dir() / "data/lexicons" / (path + ".json");
    if (!std::filesystem::exists(file)) {
      skipped.insert(ours["id"]);
      continue;
    }
    const json theirs = json::parse(read_file(file));
    EXPECT_EQ(ours["id"], theirs["id"]);
    for (const auto& [name, definition] : ours["defs"].items()) {
      ASSERT_TRUE(theirs["defs"].contains(name)) << file << ' ' << name;
      EXPECT_EQ(constraints_of(definition), constraints_of(theirs["defs"][name]))
          << file << ' ' << name;
      ++compared;
    }
  }
  EXPECT_EQ(skipped, elsewhere);  // not among the published ones there
  EXPECT_GT(compared, 40U);
}

}  // namespace
}  // namespace skua::test::built_in_test
