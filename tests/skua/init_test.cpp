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

#include "init_file.hpp"
#include "init_plan.hpp"
#include "init_questions.hpp"

namespace skua::cli::init_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kDatabaseUrl = "postgresql://localhost/skua";

class InitTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const Setting* setting : Setting::all()) ::unsetenv(setting->environment);
    ::unsetenv("SKUA_CONFIG");
    auto pattern = (std::filesystem::temp_directory_path() / "skua-init-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static Settings no_settings() { return {std::nullopt, Settings::WithoutFile{}}; }

  static std::string usage_error(const InitFlags& flags) {
    try {
      init_plan(no_settings(), flags);
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
  const InitPlan plan = init_plan(no_settings(), {.accounts = {"Alice.Test", "@bob.test"},
                                                  .collections = {"app.bsky.graph.*"},
                                                  .database = kDatabaseUrl,
                                                  .projections = {"post_stats"},
                                                  .retention = {"app.bsky.feed.like=90d"}});
  EXPECT_EQ(plan.use, InitUse::Accounts);
  EXPECT_THAT(plan.accounts, ElementsAre("alice.test", "bob.test"));
  EXPECT_THAT(plan.retention, ElementsAre(std::pair("app.bsky.feed.like", "90d")));
  EXPECT_THAT(plan.settings, ElementsAre(std::pair(&kDatabase, kDatabaseUrl),
                                         std::pair(&kRelay, std::string(kDefaultRelay))));
  EXPECT_EQ(
      init_plan(no_settings(), {.collections = {"app.bsky.feed.post"}, .database = kDatabaseUrl})
          .use,
      InitUse::Collections);
}

TEST_F(InitTest, missing_flags_are_listed) {
  EXPECT_EQ(usage_error({}), "needed: --use accounts|collections|network, --database URL");
  EXPECT_EQ(usage_error({.use = "accounts"}), "needed: --account WHO, --database URL");
  EXPECT_EQ(usage_error({.use = "collections", .database = kDatabaseUrl}),
            "needed: --collection NSID");
}

TEST_F(InitTest, wrong_values_are_named) {
  const auto with = [](auto change) {
    InitFlags flags{.use = "network", .database = kDatabaseUrl};
    change(flags);
    return usage_error(flags);
  };
  EXPECT_THAT(with([](auto& flags) { flags.use = "all"; }), HasSubstr("--use: 'all'"));
  EXPECT_THAT(with([](auto& flags) { flags.accounts = {"did:plc:xxxx"}; }),
              HasSubstr("--account: 'did:plc:xxxx' is malformed"));
  EXPECT_THAT(with([](auto& flags) { flags.accounts = {"alice.test"}; }),
              HasSubstr("leave out --account"));
  EXPECT_THAT(with([](auto& flags) { flags.collections = {"posts"}; }),
              HasSubstr("--collection: 'posts'"));
  EXPECT_THAT(with([](auto& flags) { flags.projections = {"likes"}; }),
              HasSubstr("--projection: 'likes' is not one of "));
  for (const char* rule :
       {"app.bsky.feed.like", "likes=90d", "app.bsky.feed.like=soon", "app.bsky.feed.like=1s"}) {
    EXPECT_THAT(with([&](auto& flags) { flags.retention = {rule}; }), HasSubstr("--retention: "))
        << rule;
  }
  EXPECT_THAT(with([](auto& flags) { flags.relays = {"notaurl"}; }),
              HasSubstr("--relay: 'notaurl'"));
  EXPECT_THAT(with([](auto& flags) { flags.database = "postgresql://u:secret@host:x/db"; }),
              testing::AllOf(HasSubstr("--database: "), Not(HasSubstr("secret"))));
}

TEST_F(InitTest, the_file_has_the_settings_of_the_plan_and_comments_for_all_others) {
  InitFlags flags{.use = "network",
                  .database = R"(host='/tmp/a "b"' dbname=skua)",
                  .relays = {"wss://one.example", "wss://two.example"}};
  flags.verification.plc = "http://localhost:2582";
  flags.verification.allow_private_hosts = true;
  const std::string text = init_file_text(init_plan(no_settings(), flags));
  EXPECT_EQ(write_init_file(file(), text, false), std::nullopt);
  EXPECT_EQ(content(file()), text);

  const Settings read(file().string());
  EXPECT_EQ(read.find(kDatabase, std::nullopt)->value, *flags.database);
  EXPECT_EQ(read.find(kRelay, std::nullopt)->value, "wss://one.example wss://two.example");
  EXPECT_EQ(read.find(kPlc, std::nullopt)->value, "http://localhost:2582");
  EXPECT_EQ(read.find(kAllowPrivateHosts, std::nullopt)->value, "true");
  int values = 0;
  for (const Setting* setting : Setting::all()) {
    EXPECT_THAT(text, HasSubstr(std::string("# ") + setting->meaning + ".\n")) << setting->key;
    if (read.find(*setting, std::nullopt)) {
      ++values;
    } else {
      EXPECT_THAT(text, HasSubstr("\n#" + std::string(setting->key) + " = ")) << setting->key;
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
  InitFlags flags;
  complete_by_questions(questions, no_settings(), flags);
  EXPECT_EQ(flags.use, "accounts");
  EXPECT_THAT(flags.accounts, ElementsAre("alice.test", "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"));
  EXPECT_EQ(flags.database, "postgresql:///skua");
  EXPECT_THAT(flags.relays, ElementsAre(kDefaultRelay));
  EXPECT_THAT(flags.projections, ElementsAre("post_stats"));
  EXPECT_THAT(flags.retention, ElementsAre("app.bsky.feed.like=90d"));
  EXPECT_FALSE(questions.confirm("Continue?"));
  EXPECT_THAT(out.str(), HasSubstr("--use: 'somebody' is not one of"));
  EXPECT_THAT(out.str(), HasSubstr("'alice' is not a DID"));
  EXPECT_THROW(questions.ask("More", "", [](const std::string&) {}), std::runtime_error);
}

TEST_F(InitTest, what_the_flags_have_is_not_asked) {
  std::istringstream in;
  std::ostringstream out;
  Questions questions(in, out);
  InitFlags flags{.collections = {"app.bsky.feed.post"},
                  .database = kDatabaseUrl,
                  .relays = {"wss://one.example"},
                  .projections = {"post_stats"},
                  .retention = {"app.bsky.feed.post=90d"}};
  complete_by_questions(questions, no_settings(), flags);
  EXPECT_THAT(out.str(), IsEmpty());
}

}  // namespace
}  // namespace skua::cli::init_test
