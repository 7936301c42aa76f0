#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "init_plan.hpp"

namespace skua::cli::init_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kDatabaseUrl = "postgresql://localhost/skua";

using Given = Invocation::Given;

class InitTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const OptionText* setting : all_settings()) ::unsetenv(setting->environment.c_str());
    ::unsetenv("SKUA_CONFIG");
    auto pattern = (std::filesystem::temp_directory_path() / "skua-init-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static InitPlan plan_of(Given given) { return init_plan(Invocation(std::move(given))); }

  static std::string usage_error(Given given) {
    try {
      plan_of(std::move(given));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path file() const { return folder_ / "skua.toml"; }
  std::string content(const std::filesystem::path& path) const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  mode_t mode() const {
    struct stat status {};
    return ::stat(file().c_str(), &status) == 0 ? status.st_mode & 0777U : 0;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

TEST_F(InitTest, flags_make_a_plan) {
  const InitPlan plan = plan_of({{"--account", {"Alice.Test", "@bob.test"}},
                                 {"--collection", {"app.bsky.graph.*"}},
                                 {"--database", {kDatabaseUrl}},
                                 {"--projection", {"post_stats"}},
                                 {"--retention", {"app.bsky.feed.like=90d"}}});
  EXPECT_EQ(plan.use, InitUse::Accounts);
  EXPECT_THAT(plan.accounts, ElementsAre("alice.test", "bob.test"));
  EXPECT_THAT(plan.retention, ElementsAre(std::pair("app.bsky.feed.like", "90d")));
  EXPECT_THAT(plan.settings,
              ElementsAre(std::pair<const OptionText*, std::string>(&kDatabase, kDatabaseUrl),
                          std::pair<const OptionText*, std::string>(&kRelay, kDefaultRelay)));
  EXPECT_EQ(plan_of({{"--collection", {"app.bsky.feed.post"}}, {"--database", {kDatabaseUrl}}}).use,
            InitUse::Collections);
}

TEST_F(InitTest, missing_flags_are_listed) {
  EXPECT_EQ(usage_error({}), "needed: --use accounts|collections|network, --database URL");
  EXPECT_EQ(usage_error({{"--use", {"accounts"}}}), "needed: --account WHO, --database URL");
  EXPECT_EQ(usage_error({{"--use", {"collections"}}, {"--database", {kDatabaseUrl}}}),
            "needed: --collection NSID");
}

TEST_F(InitTest, wrong_values_are_named) {
  const auto with = [](const std::string& option, const std::string& value) {
    Given given{{"--use", {"network"}}, {"--database", {kDatabaseUrl}}};
    given[option] = {value};
    return usage_error(std::move(given));
  };
  EXPECT_THAT(with("--use", "all"), HasSubstr("--use: 'all'"));
  EXPECT_THAT(with("--account", "did:plc:xxxx"),
              HasSubstr("--account: 'did:plc:xxxx' is malformed"));
  EXPECT_THAT(with("--account", "alice.test"), HasSubstr("leave out --account"));
  EXPECT_THAT(with("--collection", "posts"), HasSubstr("--collection: 'posts'"));
  EXPECT_THAT(with("--projection", "likes"), HasSubstr("--projection: 'likes' is not one of "));
  for (const char* rule :
       {"app.bsky.feed.like", "likes=90d", "app.bsky.feed.like=soon", "app.bsky.feed.like=1s"}) {
    EXPECT_THAT(with("--retention", rule), HasSubstr("--retention: ")) << rule;
  }
  EXPECT_THAT(with("--relay", "notaurl"), HasSubstr("--relay: 'notaurl'"));
  EXPECT_THAT(with("--database", "postgresql://u:secret@host:x/db"),
              testing::AllOf(HasSubstr("--database: "), Not(HasSubstr("secret"))));
}

TEST_F(InitTest, the_file_has_the_settings_of_the_plan_and_comments_for_all_others) {
  const std::string database = R"(host='/tmp/a "b"' dbname=skua)";
  const std::string text =
      init_file_text(plan_of({{"--use", {"network"}},
                              {"--database", {database}},
                              {"--relay", {"wss://one.example", "wss://two.example"}},
                              {"--plc", {"http://localhost:2582"}},
                              {"--log-level", {"debug"}},
                              {"--allow-private-hosts", {"true"}}}));
  EXPECT_EQ(write_init_file(file(), text, false), std::nullopt);
  EXPECT_EQ(content(file()), text);

  const Invocation read({}, SettingsFile(file().string()));
  EXPECT_EQ(read[kDatabase], database);
  EXPECT_EQ(read.find(kRelay)->value, "wss://one.example wss://two.example");
  EXPECT_EQ(read[kPlc], "http://localhost:2582");
  EXPECT_TRUE(read[kAllowPrivateHosts]);
  int values = 0;
  for (const OptionText* setting : all_settings()) {
    EXPECT_THAT(text, HasSubstr("# " + setting->meaning + ".\n")) << setting->key;
    if (read.has(*setting)) {
      ++values;
    } else {
      EXPECT_THAT(text, HasSubstr("\n#" + setting->key + " = ")) << setting->key;
    }
  }
  EXPECT_EQ(values, 4);
}

TEST_F(InitTest, a_replaced_file_leaves_a_copy_and_keeps_its_mode) {
  write_init_file(file(), "relay = \"wss://one.example\"\n", true);
  EXPECT_EQ(mode(), 0600U);
  std::filesystem::permissions(file(), std::filesystem::perms{0640});
  const auto copy = write_init_file(file(), "relay = \"wss://two.example\"\n", true);
  ASSERT_TRUE(copy);
  EXPECT_EQ(content(*copy), "relay = \"wss://one.example\"\n");
  EXPECT_EQ(content(file()), "relay = \"wss://two.example\"\n");
  EXPECT_EQ(mode(), 0640U);
  EXPECT_EQ(write_init_file(file(), "relay = \"wss://two.example\"\n", true), std::nullopt);
  EXPECT_EQ(files(), 2U);
}

TEST_F(InitTest, a_text_that_skua_cannot_read_is_not_written) {
  EXPECT_THROW(write_init_file(file(), "relya = \"x\"\n", false), UsageError);
  EXPECT_EQ(files(), 0U);
}

TEST_F(InitTest, a_file_without_a_password_may_be_read) {
  write_init_file(file(), "", false);
  EXPECT_EQ(mode(), 0644U);
}

TEST_F(InitTest, questions_complete_the_flags) {
  std::istringstream in(
      "somebody\naccounts\n\nalice\nalice.test, did:plc:aaaaaaaaaaaaaaaaaaaaaaaa\nhost/x\n\n"
      "notaurl\n\nlikes\npost_stats\napp.bsky.feed.like=90d\nno\n");
  std::ostringstream out;
  Questions questions(in, out);
  Invocation invocation;
  complete_by_questions(questions, invocation);
  EXPECT_EQ(invocation[kUse], InitUse::Accounts);
  EXPECT_THAT(invocation[kInitAccounts],
              ElementsAre("alice.test", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"));
  EXPECT_EQ(invocation[kDatabase], "postgresql:///skua");
  EXPECT_EQ(invocation.find(kRelay)->value, kDefaultRelay);
  EXPECT_THAT(invocation[kProjections], ElementsAre("post_stats"));
  EXPECT_THAT(invocation[kRetention], ElementsAre(std::pair("app.bsky.feed.like", "90d")));
  EXPECT_FALSE(questions.confirm("Continue?"));
  EXPECT_THAT(out.str(), HasSubstr("--use: 'somebody' is not one of"));
  EXPECT_THAT(out.str(), HasSubstr("'alice' is not a DID"));
  EXPECT_THROW(questions.ask("More", "", [](const std::string&) {}), std::runtime_error);
}

TEST_F(InitTest, what_the_flags_have_is_not_asked) {
  std::istringstream in;
  std::ostringstream out;
  Questions questions(in, out);
  Invocation invocation(Given{{"--collection", {"app.bsky.feed.post"}},
                              {"--database", {kDatabaseUrl}},
                              {"--relay", {"wss://one.example"}},
                              {"--projection", {"post_stats"}},
                              {"--retention", {"app.bsky.feed.post=90d"}}});
  complete_by_questions(questions, invocation);
  EXPECT_THAT(out.str(), IsEmpty());
}

}  // namespace
}  // namespace skua::cli::init_test
