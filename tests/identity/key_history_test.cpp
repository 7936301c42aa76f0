#include "identity/key_history.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/signing.hpp"
#include "identity/errc.hpp"

namespace skua::identity::key_history_test {
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

TEST(KeyHistory, gives_the_key_of_a_time) {
  const json log = {operation(2, "2025-02-01T00:00:00Z"), operation(1, "2024-01-01T00:00:00Z"),
                    operation(3, "2025-01-15T00:00:00Z", true)};
  const auto history = read_key_history(log.dump(), kDid);
  ASSERT_TRUE(history);
  EXPECT_EQ(key_at(*history, at("2023-12-31T23:59:59Z")), std::nullopt) << "before there was one";
  EXPECT_EQ(key_at(*history, at("2024-01-01T00:00:00Z")), key(1)) << "from its instant on";
  EXPECT_EQ(key_at(*history, at("2025-01-20T00:00:00Z")), key(1)) << "what was struck out is not";
  EXPECT_EQ(key_at(*history, at("2026-01-01T00:00:00Z")), key(2));
}

TEST(KeyHistory, gives_the_key_of_labels_apart) {
  json first = operation(1, "2024-01-01T00:00:00Z");
  first["operation"]["verificationMethods"]["atproto_label"] = key(5).to_did_key();
  const json log = {first, operation(1, "2025-01-01T00:00:00Z")};
  const auto history = read_key_history(log.dump(), kDid);
  ASSERT_TRUE(history);
  EXPECT_EQ(key_at(*history, at("2024-06-01T00:00:00Z"), KeyUse::Labels), key(5));
  EXPECT_EQ(key_at(*history, at("2024-06-01T00:00:00Z")), key(1));
  EXPECT_EQ(key_at(*history, at("2025-06-01T00:00:00Z"), KeyUse::Labels), std::nullopt);
}

TEST(KeyHistory, has_no_key_after_a_tombstone) {
  json tombstone = operation(1, "2025-01-01T00:00:00Z");
  tombstone["operation"] = {{"type", "plc_tombstone"}};
  const json log = {operation(1, "2024-01-01T00:00:00Z"), tombstone};
  const auto history = read_key_history(log.dump(), kDid);
  ASSERT_TRUE(history);
  EXPECT_EQ(key_at(*history, at("2024-06-01T00:00:00Z")), key(1));
  EXPECT_EQ(key_at(*history, at("2025-06-01T00:00:00Z")), std::nullopt);
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
}  // namespace skua::identity::key_history_test
