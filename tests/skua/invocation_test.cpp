#include "invocation.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "settings.hpp"

namespace skua::cli::invocation_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Given = Invocation::Given;

class InvocationTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const OptionText* setting : all_settings()) ::unsetenv(setting->environment.c_str());
    auto pattern = (std::filesystem::temp_directory_path() / "skua-settings-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    SetVariables({});
    std::filesystem::remove_all(folder_);
  }

  void SetVariables(const std::vector<std::pair<std::string, std::string>>& variables) {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
    set_.clear();
    for (const auto& [name, value] : variables) {
      ::setenv(name.c_str(), value.c_str(), 1);
      set_.insert(name);
    }
  }

  SettingsFile file(const std::string& content) const {
    const auto path = folder_ / "skua.toml";
    std::ofstream(path) << content;
    return SettingsFile(path.string());
  }

  static std::string usage_error(const auto& action) {
    try {
      action();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path folder_;
  std::set<std::string> set_;
};

TEST_F(InvocationTest, the_flag_comes_before_the_environment_the_file_and_the_default) {
  EXPECT_EQ(Invocation()[kMaxClients], 256U);
  const SettingsFile settings = file("max_clients = 10\n");
  EXPECT_EQ(Invocation({}, settings)[kMaxClients], 10U);
  SetVariables({{"SKUA_MAX_CLIENTS", "11"}});
  EXPECT_EQ(Invocation({}, settings)[kMaxClients], 11U);
  EXPECT_EQ(Invocation(Given{{"--max-clients", {"12"}}}, settings)[kMaxClients], 12U);
  SetVariables({{"SKUA_MAX_CLIENTS", ""}});
  EXPECT_EQ(Invocation({}, settings)[kMaxClients], 10U) << "an empty variable counts as unset";
}

TEST_F(InvocationTest, an_error_names_where_the_value_was_found) {
  const auto error = [](const Invocation& invocation) {
    return usage_error([&] { invocation[kMaxClients]; });
  };
  EXPECT_EQ(error(Invocation(Given{{"--max-clients", {"0"}}})),
            "--max-clients: '0' is not a whole number from 1 to 100000");
  const SettingsFile settings = file("max_clients = 0\n");
  EXPECT_THAT(error(Invocation({}, settings)), HasSubstr("skua.toml: max_clients: '0'"));
  SetVariables({{"SKUA_MAX_CLIENTS", "many"}});
  EXPECT_THAT(error(Invocation({}, settings)), HasSubstr("SKUA_MAX_CLIENTS: 'many'"));
}

TEST_F(InvocationTest, a_list_has_words_in_a_setting_and_one_value_for_each_flag) {
  EXPECT_THAT(Invocation()[kHttpHost], IsEmpty());
  EXPECT_THAT(Invocation({}, file("http_host = \"A.test  b.test\"\n"))[kHttpHost],
              ElementsAre("a.test", "b.test"));
  EXPECT_THAT(Invocation(Given{{"--http-host", {"c.test", "d.test"}}},
                         file("http_host = \"a.test\"\n"))[kHttpHost],
              ElementsAre("c.test", "d.test"));
  EXPECT_THAT(usage_error([] {
                Invocation(Given{{"--http-host", {"a b"}}})[kHttpHost];
              }),
              HasSubstr("--http-host: 'a b'"));
}

TEST_F(InvocationTest, a_boolean_setting_is_true_or_false) {
  EXPECT_FALSE(Invocation()[kPlcTail]);
  EXPECT_TRUE(Invocation(Given{{"--plc-tail", {"true"}}})[kPlcTail]);
  EXPECT_TRUE(Invocation({}, file("plc_tail = true\n"))[kPlcTail]);
  EXPECT_FALSE(Invocation({}, file("plc_tail = 0\n"))[kPlcTail]);
  EXPECT_THAT(usage_error([&] { Invocation({}, file("plc_tail = 2\n"))[kPlcTail]; }),
              HasSubstr("plc_tail: '2' is neither true nor false"));
}

TEST_F(InvocationTest, a_former_name_comes_behind_the_present_one) {
  const SettingsFile settings = file("figures_every = 7\nstats_interval = 8\n");
  EXPECT_EQ(Invocation({}, settings)[kStatsInterval], std::chrono::seconds(8));
  SetVariables({{"SKUA_FIGURES_EVERY", "9"}});
  EXPECT_EQ(Invocation({}, settings)[kStatsInterval], std::chrono::seconds(9));
  SetVariables({{"SKUA_FIGURES_EVERY", "9"}, {"SKUA_STATS_INTERVAL", "10"}});
  EXPECT_EQ(Invocation({}, settings)[kStatsInterval], std::chrono::seconds(10));
}

TEST_F(InvocationTest, given_values_replace_those_of_the_command_line) {
  Invocation invocation(Given{{"--relay", {"wss://one.example"}}});
  invocation.give(kRelay, {"wss://two.example", "wss://three.example"});
  ASSERT_EQ(invocation[kRelay].size(), 2U);
  EXPECT_EQ(invocation[kRelay].front().value, "wss://two.example");
  invocation.give(kRelay, {});
  EXPECT_FALSE(invocation.is_given(kRelay));
  EXPECT_THAT(usage_error([&] { invocation.require(kRelay, "wss://HOST"); }),
              HasSubstr("--relay is needed: give --relay wss://HOST, set SKUA_RELAY"));
}

TEST_F(InvocationTest, a_file_with_an_unknown_key_or_a_list_is_refused) {
  EXPECT_THAT(
      usage_error([&] { file("databse_url = 1\n"); }),
      HasSubstr("databse_url is not a setting; the settings are database_url, groups, relay"));
  EXPECT_THAT(usage_error([&] { file("relay = [\"a\"]\n"); }),
              HasSubstr("relay must be a single value"));
  EXPECT_THAT(usage_error([&] { file("relay = \n"); }), HasSubstr("(line 1)"));
}

TEST_F(InvocationTest, each_default_is_well_formed_and_each_name_is_unique) {
  const auto read = [invocation = Invocation()](const auto&... settings) {
    (static_cast<void>(invocation[settings]), ...);
  };
  read(kFailoverAfter, kFailbackAfter, kFailoverMargin, kMaxDiscoveredLabelers, kVerify, kResync,
       kHandles, kPlc, kConcurrency, kPerHost, kLargestRepository, kConsumerThreads, kStatsInterval,
       kBehindAfter, kQuietAfter, kListen, kMaxClients, kMaxClientsPerAddress, kWebhookTimeout,
       kQueryTimeout, kLogFormat);
  std::set<std::string> names;
  for (const OptionText* setting : all_settings()) {
    EXPECT_TRUE(names.insert(setting->name).second) << setting->name;
    EXPECT_TRUE(names.insert(setting->environment).second) << setting->environment;
    EXPECT_TRUE(names.insert(setting->key).second) << setting->key;
    EXPECT_EQ(setting->environment, variable_of_key(setting->key));
    EXPECT_EQ(setting->type.empty(), setting->is_boolean()) << setting->name;
  }
}

TEST_F(InvocationTest, a_command_to_copy_repeats_config_and_database_without_the_password) {
  Invocation invocation(
      Given{{"--config", {"a b.toml"}}, {"--database", {"postgresql://me:secret@localhost/skua"}}});
  invocation.program = "./skua";
  EXPECT_EQ(invocation.command_to_copy("status"),
            "./skua status --config 'a b.toml' --database "
            "'postgresql://me:***@localhost/skua'");
  EXPECT_EQ(Invocation().command_to_copy("status"), "skua status");
}

}  // namespace
}  // namespace skua::cli::invocation_test
