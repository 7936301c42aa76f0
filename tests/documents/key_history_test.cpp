#include "documents/key_history.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/signing.hpp"
#include "documents/errc.hpp"

namespace skua::documents::key_history_test {
namespace {

using nlohmann::json;

constexpr const char* kDid = "did:plc:z72i7hdynmk6r22z27h6tvur";

atproto::Multikey key(std::uint8_t number) {
  return atproto::SigningKey::from_bytes(atproto::Curve::k256, {number}).value().public_key();
}

json operation(std::uint8_t key_number, const std::string& created_at, bool nullified = false) {
  return {{"did", kDid},
          {"createdAt", created_at},
          {"nullified", nullified},
          {"cid", "bafy"},
          {"operation",
           {{"type", "plc_operation"},
            {"verificationMethods", {{"atproto", key(key_number).to_did_key()}}},
            {"alsoKnownAs", {"at://alice.test"}},
            {"services", json::object()}}}};
}

Timestamp at(const std::string& text) {
  return parse_datetime(text)->instant;
}

/// The numbers of the keys near a time.
std::vector<int> near(const KeyHistory& history, const std::string& time,
                      KeyUse use = KeyUse::Commits) {
  std::vector<int> numbers;
  for (const auto& found : keys_near(history, at(time), use)) {
    for (std::uint8_t number = 1; number < 40; ++number) {
      if (found == key(number)) numbers.push_back(number);
    }
  }
  return numbers;
}

using Numbers = std::vector<int>;

TEST(KeyHistory, gives_the_keys_of_a_time) {
  const json log = {operation(2, "2025-02-01T00:00:00Z"), operation(1, "2024-01-01T00:00:00Z"),
                    operation(3, "2025-01-15T00:00:00Z", true)};
  const auto history = read_key_history(log.dump(), kDid);
  ASSERT_TRUE(history);
  EXPECT_EQ(near(*history, "2023-12-31T00:00:00Z"), (Numbers{1, 2})) << "a clock that is slow";
  EXPECT_EQ(near(*history, "2024-01-01T00:00:00Z"), (Numbers{1, 2}));
  EXPECT_EQ(near(*history, "2025-01-15T00:00:00Z"), (Numbers{1, 2})) << "without the nullified one";
  EXPECT_EQ(near(*history, "2025-02-01T00:00:00Z"), (Numbers{2, 1})) << "the nearest first";
  EXPECT_EQ(near(*history, "2025-02-01T00:05:00Z"), (Numbers{2, 1}));
  EXPECT_EQ(near(*history, "2025-02-01T00:05:01Z"), Numbers{2}) << "a stolen key signs nothing";
  EXPECT_EQ(near(*history, "2026-01-01T00:00:00Z"), Numbers{2});
}

TEST(KeyHistory, gives_all_keys_of_rotations_within_seconds) {
  const json log = {operation(1, "2024-01-01T00:00:00Z"), operation(2, "2025-01-01T00:00:00Z"),
                    operation(3, "2025-01-01T00:00:08Z")};
  const auto history = read_key_history(log.dump(), kDid);
  ASSERT_TRUE(history);
  // Whatever the clock of the host is.
  for (const char* time :
       {"2024-12-31T23:59:30Z", "2024-12-31T23:59:59Z", "2025-01-01T00:00:00Z",
        "2025-01-01T00:00:04Z", "2025-01-01T00:00:08Z", "2025-01-01T00:01:00Z"}) {
    auto found = near(*history, time);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, (Numbers{1, 2, 3})) << time;
  }
  EXPECT_EQ(near(*history, "2025-01-01T00:00:04Z").front(), 2);
}

TEST(KeyHistory, gives_a_limited_number_of_keys_each_once) {
  json log = json::array();
  for (int i = 0; i < 30; ++i) {
    const std::string second = (i < 10 ? "0" : "") + std::to_string(i);
    log.push_back(operation(static_cast<std::uint8_t>(i + 1), "2025-01-01T00:00:" + second + "Z"));
  }
  // A key that comes back.
  log.push_back(operation(15, "2025-01-01T00:00:30Z"));
  log.push_back(operation(31, "2025-01-01T00:00:31Z"));
  const auto history = read_key_history(log.dump(), kDid);
  ASSERT_TRUE(history);
  EXPECT_EQ(near(*history, "2025-01-01T00:00:14Z"), (Numbers{15, 14, 16, 13, 17, 12, 18, 11}));
  EXPECT_EQ(near(*history, "2025-01-01T00:00:31Z"), (Numbers{31, 15, 30, 29, 28, 27, 26, 25}));
}

TEST(KeyHistory, gives_the_key_of_labels_apart) {
  json first = operation(1, "2024-01-01T00:00:00Z");
  first["operation"]["verificationMethods"]["atproto_label"] = key(5).to_did_key();
  json labels_only = operation(1, "2026-01-01T00:00:00Z");
  labels_only["operation"]["verificationMethods"] = {{"atproto_label", key(6).to_did_key()}};
  const json log = {first, operation(1, "2025-01-01T00:00:00Z"), labels_only};
  const auto history = read_key_history(log.dump(), kDid);
  ASSERT_TRUE(history);
  EXPECT_EQ(near(*history, "2024-06-01T00:00:00Z", KeyUse::Labels), (Numbers{5, 6}));
  EXPECT_EQ(near(*history, "2024-06-01T00:00:00Z"), Numbers{1});
  EXPECT_EQ(near(*history, "2025-06-01T00:00:00Z", KeyUse::Labels), Numbers{6});
  EXPECT_EQ(near(*history, "2026-06-01T00:00:00Z", KeyUse::Labels), Numbers{6});
  EXPECT_EQ(near(*history, "2026-06-01T00:00:00Z"), Numbers{});
}

TEST(KeyHistory, has_no_key_after_a_tombstone) {
  json tombstone = operation(1, "2025-01-01T00:00:00Z");
  tombstone["operation"] = {{"type", "plc_tombstone"}};
  const json log = {operation(1, "2024-01-01T00:00:00Z"), tombstone};
  const auto history = read_key_history(log.dump(), kDid);
  ASSERT_TRUE(history);
  EXPECT_EQ(near(*history, "2024-06-01T00:00:00Z"), Numbers{1});
  EXPECT_EQ(near(*history, "2025-06-01T00:00:00Z"), Numbers{});
}

TEST(KeyHistory, leaves_out_what_is_of_another_account_or_of_no_known_form) {
  json other = operation(2, "2024-06-01T00:00:00Z");
  other["did"] = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
  const json log = {operation(1, "2024-01-01T00:00:00Z"), other, json{{"did", 7}}, "text"};
  const auto history = read_key_history(log.dump(), kDid);
  ASSERT_TRUE(history);
  EXPECT_EQ(history->size(), 1U);
}

TEST(KeyHistory, is_a_list) {
  for (const char* text : {"", "{}", "[", "null", "7"}) {
    const auto history = read_key_history(text, kDid);
    ASSERT_FALSE(history) << text;
    EXPECT_EQ(history.error(), errc::document_json) << text;
  }
}

}  // namespace
}  // namespace skua::documents::key_history_test
