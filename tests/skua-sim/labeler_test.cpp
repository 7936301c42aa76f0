#include "world/labeler.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/signing.hpp"
#include "atproto/syntax.hpp"
#include "repo/dag_cbor.hpp"
#include "skua-sim/heard_network.hpp"

namespace skua::sim::labeler_test {
namespace {

using nlohmann::json;
using test_cases::HeardNetwork;
using test_cases::OpenFrame;
using test_cases::small_settings;

constexpr const char* kUrl = "http://labels.test";

NetworkSettings with_labeler(std::uint64_t seed) {
  auto settings = small_settings(seed);
  settings.labeler_url = kUrl;
  return settings;
}

std::optional<std::string> text_in(atproto::Value label, std::string_view key) {
  const auto field = label.find(key);
  return field ? std::optional(std::string(field->string())) : std::nullopt;
}

bool flag_in(atproto::Value label, std::string_view key) {
  const auto field = label.find(key);
  return field && field->boolean();
}

/// The label without `sig`, written anew field by field: what its signature is of.
Bytes signed_part(atproto::Value label) {
  std::vector<std::pair<std::string_view, atproto::Value>> fields;
  for (const auto key : {"cid", "cts", "exp", "neg", "src", "uri", "val", "ver"}) {
    if (const auto field = label.find(key)) fields.emplace_back(key, *field);
  }
  Bytes bytes;
  repo::CborWriter cbor(bytes);
  cbor.map(fields.size());
  for (const auto& [key, value] : fields) {
    cbor.string(key);
    cbor.value(value);
  }
  return bytes;
}

atproto::VerifyingKey label_key_of(const json& document) {
  const json& method = document.at("verificationMethod").at(1);
  EXPECT_EQ(method.at("id"), document.at("id").get<std::string>() + "#atproto_label");
  EXPECT_EQ(method.at("type"), "Multikey");
  const auto key = atproto::Multikey::parse_did_key(
      "did:key:" + method.at("publicKeyMultibase").get<std::string>());
  return atproto::VerifyingKey::from_multikey(key.value()).value();
}

bool is_signed_by(const atproto::VerifyingKey& key, atproto::Value label) {
  const auto signature = label.find("sig");
  return signature && key.verify(signed_part(label), signature->bytes()).has_value();
}

/// The frame at a position of the labeler's stream.
OpenFrame open(Labeler& labeler, std::uint64_t position) {
  return OpenFrame(*labeler.log().frame(position));
}

Label label_on(std::string uri, std::string val, std::string cts = "2026-01-01T00:00:00Z") {
  Label label;
  label.uri = std::move(uri);
  label.val = std::move(val);
  label.cts = std::move(cts);
  return label;
}

TEST(Labeler, stands_in_its_document_and_in_the_export) {
  HeardNetwork network(with_labeler(40));
  Labeler& labeler = *network.network().labeler();
  const json document = network.network().did_document(labeler.did());
  label_key_of(document);
  EXPECT_EQ(document.at("service").at(0).at("id"), "#atproto_pds");
  const json service = {
      {"id", "#atproto_labeler"}, {"type", "AtprotoLabeler"}, {"serviceEndpoint", kUrl}};
  EXPECT_EQ(document.at("service").at(1), service);
  bool exported = false;
  for (const json entry : network.network().plc_export("", 1000)) {
    const json& services = entry.at("operation").at("services");
    if (!services.contains("atproto_labeler")) continue;
    EXPECT_EQ(entry.at("did"), labeler.did());
    EXPECT_EQ(services.at("atproto_labeler").at("endpoint"), kUrl);
    EXPECT_TRUE(entry.at("operation").at("verificationMethods").contains("atproto_label"));
    exported = true;
  }
  EXPECT_TRUE(exported);
}

TEST(Labeler, changes_nothing_that_others_do) {
  HeardNetwork without(small_settings(41));
  HeardNetwork with(with_labeler(41));
  EXPECT_EQ(without.network().labeler(), nullptr);
  EXPECT_EQ(without.network().dids(), with.network().dids());
  // Until the labeler would have gone.
  without.steps(40);
  with.steps(40);
  ASSERT_EQ(without.heard().size(), with.heard().size());
  for (std::size_t i = 0; i < with.heard().size(); ++i) {
    EXPECT_EQ(without.heard()[i].message->did, with.heard()[i].message->did);
  }
}

TEST(Labeler, follows_from_the_seed) {
  HeardNetwork one(with_labeler(42));
  HeardNetwork other(with_labeler(42));
  one.steps(800);
  other.steps(800);
  const json state = one.network().labeler()->state();
  EXPECT_GT(state.at("labels").size(), 40U);
  EXPECT_EQ(state, json(other.network().labeler()->state()));
}

/// All that the traffic brings, folded, is what the labeler says that holds.
TEST(Labeler, traffic_is_signed_and_folds_to_the_state) {
  HeardNetwork network(with_labeler(43));
  network.steps(2'000);
  Labeler& labeler = *network.network().labeler();
  const auto key = label_key_of(network.network().did_document(labeler.did()));
  std::map<std::pair<std::string, std::string>, json> folded;
  std::size_t withdrawn = 0;
  std::size_t expiring = 0;
  std::size_t on_versions = 0;
  std::size_t on_accounts = 0;
  std::size_t without_ver = 0;
  std::size_t in_company = 0;
  for (auto position = labeler.log().begin(); position < labeler.log().end(); ++position) {
    const OpenFrame frame = open(labeler, position);
    EXPECT_EQ(frame.type(), "#labels");
    EXPECT_EQ(frame.field("seq").integer(), static_cast<std::int64_t>(position) + 1);
    const auto labels = frame.field("labels");
    if (labels.size() > 1) ++in_company;
    for (const auto label : labels.items()) {
      EXPECT_TRUE(is_signed_by(key, label));
      const std::string uri = text_in(label, "uri").value();
      EXPECT_TRUE(atproto::is_did(uri) || atproto::parse_at_uri(uri)) << uri;
      EXPECT_EQ(text_in(label, "src"), labeler.did());
      const auto cid = text_in(label, "cid");
      const auto exp = text_in(label, "exp");
      const bool neg = flag_in(label, "neg");
      withdrawn += neg ? 1 : 0;
      expiring += exp ? 1 : 0;
      on_versions += cid ? 1 : 0;
      on_accounts += atproto::is_did(uri) ? 1 : 0;
      without_ver += label.find("ver") ? 0 : 1;
      const std::string val = text_in(label, "val").value();
      folded[{uri, val}] = {{"src", labeler.did()},
                            {"uri", uri},
                            {"val", val},
                            {"neg", neg},
                            {"cts", text_in(label, "cts").value()},
                            {"exp", exp ? json(*exp) : json()},
                            {"cid", cid ? json(*cid) : json()},
                            {"seq", frame.field("seq").integer()}};
    }
  }
  json expected = json::array();
  for (auto& [subject, label] : folded) expected.push_back(std::move(label));
  EXPECT_EQ(json(labeler.state()).at("labels"), expected);
  for (const auto count :
       {withdrawn, expiring, on_versions, on_accounts, without_ver, in_company}) {
    EXPECT_GT(count, 5U);
  }
  EXPECT_LT(labeler.log().end(), 300U);
}

TEST(Labeler, the_later_of_two_counts) {
  HeardNetwork network(with_labeler(44));
  Labeler& labeler = *network.network().labeler();
  const std::string subject = network.network().dids().back();
  Label withdrawn = label_on(subject, "spam", "2026-02-01T00:00:00Z");
  withdrawn.neg = true;
  labeler.say({{withdrawn}});
  labeler.say({{label_on(subject, "spam", "2026-01-31T23:00:00-02:00")}});  // later by two hours
  labeler.say({{label_on(subject, "rude", "2026-02-01T00:00:00Z")}});
  labeler.say({{label_on(subject, "rude", "2026-01-01T00:00:00Z")}});
  const json labels = labeler.state().at("labels");
  ASSERT_EQ(labels.size(), 2U);
  EXPECT_EQ(labels.at(0).at("val"), "rude");
  EXPECT_EQ(labels.at(0).at("seq"), 3);
  EXPECT_EQ(labels.at(1).at("neg"), false);
  EXPECT_EQ(labels.at(1).at("seq"), 2);
}

TEST(Labeler, new_keys_are_announced_and_sign_from_then_on) {
  HeardNetwork network(with_labeler(45));
  network.steps(300);
  Labeler& labeler = *network.network().labeler();
  const std::string did = labeler.did();
  std::vector<atproto::VerifyingKey> keys;
  for (int round = 0; round < 3; ++round) {
    keys.push_back(label_key_of(network.network().did_document(did)));
    labeler.say({{label_on(did, "spam")}});
    const OpenFrame frame = open(labeler, labeler.log().end() - 1);
    const auto label = *frame.field("labels").items().begin();
    for (int signer = 0; signer <= round; ++signer) {
      const auto& key = keys[static_cast<std::size_t>(signer)];
      EXPECT_EQ(is_signed_by(key, label), signer == round);
    }
    network.network().rotate_label_key(network.now());
    EXPECT_EQ(network.heard().back().message->did, did);
    EXPECT_EQ(network.open(network.heard().size() - 1).type(), "#identity");
  }
  EXPECT_EQ(keys[0].curve(), atproto::Curve::k256);
  EXPECT_EQ(keys[1].curve(), atproto::Curve::p256);
}

TEST(Labeler, repeats_its_newest_frame_under_the_same_number) {
  HeardNetwork network(with_labeler(46));
  Labeler& labeler = *network.network().labeler();
  EXPECT_FALSE(labeler.repeat());
  labeler.say({{label_on(labeler.did(), "spam")}});
  EXPECT_TRUE(labeler.repeat());
  ASSERT_EQ(labeler.log().end(), 2U);
  EXPECT_EQ(*labeler.log().frame(0), *labeler.log().frame(1));
}

struct FlawCase {
  std::string_view name;
  bool is_signed;
};

class LabelerFlaw : public testing::TestWithParam<FlawCase> {};

/// A broken label stands in its frame beside the honest one, and does not hold.
TEST_P(LabelerFlaw, is_said_and_does_not_hold) {
  HeardNetwork network(with_labeler(47));
  Labeler& labeler = *network.network().labeler();
  const auto key = label_key_of(network.network().did_document(labeler.did()));
  const std::string subject = network.network().dids().front();
  const auto flaw = parse_label_flaw(GetParam().name);
  ASSERT_TRUE(flaw);
  labeler.say({{label_on(subject, "rude"), flaw}, {label_on(subject, "spam")}});
  const json labels = labeler.state().at("labels");
  ASSERT_EQ(labels.size(), 1U);
  EXPECT_EQ(labels.at(0).at("val"), "spam");

  const OpenFrame frame = open(labeler, 0);
  const auto sent = frame.field("labels");
  ASSERT_EQ(sent.size(), 2U);
  const auto broken = *sent.items().begin();
  EXPECT_EQ(is_signed_by(key, broken), GetParam().is_signed);
  const Label honest = label_on(subject, "rude");
  const bool differs =
      broken.find("ver")->integer() != honest.ver || text_in(broken, "src") != labeler.did() ||
      text_in(broken, "uri") != honest.uri || text_in(broken, "val") != honest.val ||
      text_in(broken, "cts") != honest.cts || text_in(broken, "cid") != honest.cid ||
      text_in(broken, "exp") != honest.exp;
  EXPECT_EQ(differs, GetParam().is_signed);
}

INSTANTIATE_TEST_SUITE_P(Labeler, LabelerFlaw,
                         testing::Values(FlawCase{"signature", false},
                                         FlawCase{"no-signature", false}, FlawCase{"ver", true},
                                         FlawCase{"src", true}, FlawCase{"uri", true},
                                         FlawCase{"cid", true}, FlawCase{"val", true},
                                         FlawCase{"cts", true}, FlawCase{"exp", true}),
                         [](const auto& flaw) {
                           std::string name(flaw.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Labeler, unknown_flaws_are_none) {
  EXPECT_EQ(parse_label_flaw("sig"), std::nullopt);
  EXPECT_NE(label_flaw_names().find("no-signature"), std::string::npos);
}

}  // namespace
}  // namespace skua::sim::labeler_test
