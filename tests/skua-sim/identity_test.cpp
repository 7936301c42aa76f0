#include <chrono>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "atproto/signing.hpp"
#include "atproto/syntax.hpp"
#include "base/time.hpp"
#include "event/json_event.hpp"
#include "skua-sim/heard_network.hpp"
#include "world/network.hpp"

namespace skua::sim::identity_test {
namespace {

using nlohmann::json;
using test_cases::HeardNetwork;
using test_cases::small_settings;

Bytes cbor_of(const json& value) {
  return event::json_to_dag_cbor(value).value();
}

/// base64url text as the bytes it stands for, by way of the data model's `$bytes`.
Bytes from_base64url(std::string text) {
  for (char& letter : text) {
    if (letter == '-') letter = '+';
    if (letter == '_') letter = '/';
  }
  Bytes cbor = cbor_of({{"$bytes", text}});
  constexpr std::size_t kHead = 2;  // 64 bytes: their length takes a byte
  cbor.erase(cbor.begin(), cbor.begin() + kHead);
  return cbor;
}

/// A CID's text without its multibase letter and the 36 bits before the digest cannot be cut: the
/// DID's letters are the digest's alone.
std::string digest_letters(const atproto::Cid& cid) {
  constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";
  constexpr std::size_t kLetters = 24;
  std::string letters;
  for (std::size_t i = 0; i < kLetters; ++i) {
    unsigned value = 0;
    for (std::size_t bit = i * 5; bit < i * 5 + 5; ++bit) {
      value = value << 1 | (cid.digest[bit / 8] >> (7 - bit % 8) & 1U);
    }
    letters += kAlphabet[value];
  }
  return letters;
}

void check_log(Network& network, const std::string& did) {
  const json log = network.plc_audit(did);
  ASSERT_FALSE(log.empty());
  json prev = nullptr;
  std::string created;
  for (const json& entry : log) {
    EXPECT_EQ(entry.at("did"), did);
    EXPECT_EQ(entry.at("nullified"), false);
    EXPECT_LT(created, entry.at("createdAt").get<std::string>());
    created = entry.at("createdAt");
    json operation = entry.at("operation");
    EXPECT_EQ(operation.at("type"), "plc_operation");
    EXPECT_EQ(operation.at("prev"), prev);
    const auto cid = atproto::Cid::of(cbor_of(operation));
    EXPECT_EQ(entry.at("cid"), cid.to_string());
    if (prev.is_null()) {
      EXPECT_EQ(did, "did:plc:" + digest_letters(cid));
    }
    prev = entry.at("cid");

    const Bytes signature = from_base64url(operation.at("sig"));
    operation.erase("sig");
    const auto key = atproto::Multikey::parse_did_key(
        operation.at("rotationKeys")[0].get_ref<const std::string&>());
    ASSERT_TRUE(key);
    EXPECT_TRUE(atproto::VerifyingKey::from_multikey(*key)->verify(cbor_of(operation), signature));
  }
}

TEST(Identity, directory_is_signed_and_chained) {
  HeardNetwork network(small_settings(20));
  network.steps(3'000);
  std::size_t operations = 0;
  for (const std::string& did : network.network().dids()) {
    EXPECT_TRUE(atproto::is_did(did));
    check_log(network.network(), did);
    operations += network.network().plc_audit(did).size();
  }
  EXPECT_GT(operations, network.network().dids().size() + 50);
}

TEST(Identity, document_is_that_of_the_newest_operation) {
  HeardNetwork network(small_settings(21));
  network.steps(2'000);
  std::size_t contested = 0;
  std::set<std::string> handles;
  for (const std::string& did : network.network().dids()) {
    const json document = network.network().did_document(did);
    const json operation = network.network().plc_audit(did).back().at("operation");
    const auto view = network.network().account(did);
    EXPECT_EQ(document.at("id"), did);
    EXPECT_EQ(document.at("alsoKnownAs"), operation.at("alsoKnownAs"));
    EXPECT_EQ(document.at("alsoKnownAs"), json::array({"at://" + view->handle}));
    const json& method = document.at("verificationMethod").at(0);
    EXPECT_EQ(method.at("id"), did + "#atproto");
    EXPECT_EQ(method.at("type"), "Multikey");
    EXPECT_EQ("did:key:" + method.at("publicKeyMultibase").get<std::string>(),
              operation.at("verificationMethods").at("atproto").get<std::string>());
    const json& service = document.at("service").at(0);
    EXPECT_EQ(service.at("type"), "AtprotoPersonalDataServer");
    const json hosts = {"https://one.test", "https://two.test", "https://three.test"};
    EXPECT_EQ(service.at("serviceEndpoint"), hosts.at(view->host));
    EXPECT_TRUE(atproto::is_handle(view->handle)) << view->handle;
    EXPECT_EQ(view->handle_valid, network.network().resolve_handle(view->handle) == did);
    if (view->handle_valid) {
      EXPECT_TRUE(handles.insert(view->handle).second);
    } else if (view->status != AccountStatus::deleted) {
      ++contested;
      EXPECT_NE(network.network().resolve_handle(view->handle), did);
    }
  }
  EXPECT_GT(contested, 0U);
  EXPECT_TRUE(network.network().did_document("did:plc:nobody").is_null());
  EXPECT_EQ(network.network().account("did:plc:nobody"), std::nullopt);
  EXPECT_EQ(network.network().resolve_handle("nobody.test"), std::nullopt);
}

TEST(Identity, export_goes_on_from_where_it_stopped) {
  HeardNetwork network(small_settings(22));
  network.steps(1'500);
  std::size_t expected = 0;
  for (const std::string& did : network.network().dids()) {
    expected += network.network().plc_audit(did).size();
  }
  std::size_t exported = 0;
  std::string after;
  for (;;) {
    const json page = network.network().plc_export(after, 7);
    if (page.empty()) break;
    EXPECT_LE(page.size(), 7U);
    exported += page.size();
    after = page.back().at("createdAt");
  }
  EXPECT_EQ(exported, expected);
}

TEST(Identity, accounts_move_and_old_hosts_speak_late) {
  HeardNetwork network(small_settings(23));
  network.steps(2'500);
  std::size_t late = 0;
  for (const auto& heard : network.heard()) {
    const test_cases::OpenFrame frame(numbered(*heard.message, 1));
    if (frame.type() != "#account" || frame.field("active").boolean()) continue;
    const json log = network.network().plc_audit(heard.message->did);
    const json hosts = {"https://one.test", "https://two.test", "https://three.test"};
    json at_that_time;
    for (const json& entry : log) {
      if (entry.at("createdAt").get<std::string>() > frame.field("time").string()) break;
      at_that_time = entry.at("operation").at("services").at("atproto_pds").at("endpoint");
    }
    if (at_that_time != hosts.at(heard.host)) {
      EXPECT_EQ(frame.field("status").string(), "deactivated");
      ++late;
    }
  }
  EXPECT_GT(late, 3U);
}

}  // namespace
}  // namespace skua::sim::identity_test
