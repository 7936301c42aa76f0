#include "documents/did_document.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "documents/errc.hpp"
#include "documents/made_document.hpp"
#include "support/shared_data.hpp"

namespace skua::documents::did_document_test {
namespace {

using nlohmann::json;
using test::made_document;

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

Result<Account> parse(const json& document) {
  return parse_did_document(document.dump(), kDid);
}

TEST(AccountOfDocument, is_read_as_the_directory_writes_it) {
  const auto document = parse(made_document(kDid));
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->did, kDid);
  EXPECT_EQ(document->key->to_string(), test::k256_multikey());
  EXPECT_EQ(document->pds, "https://pds.example");
  EXPECT_EQ(document->handle, "alice.example");
}

TEST(AccountOfDocument, has_the_key_of_a_labeler_beside_its) {
  auto value = made_document(kDid);
  EXPECT_EQ(parse(value)->label_key, std::nullopt);
  auto method = value["verificationMethod"][0];
  method["id"] = kDid + "#atproto_label";
  method["publicKeyMultibase"] = test::p256_multikey();
  value["verificationMethod"].push_back(method);
  const auto document = parse(value);
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->key->to_string(), test::k256_multikey());
  ASSERT_TRUE(document->label_key);
  EXPECT_EQ(document->label_key->to_string(), test::p256_multikey());
  value["verificationMethod"][1]["publicKeyMultibase"] = "znonsense";
  ASSERT_TRUE(parse(value)) << "commits can be verified all the same";
  EXPECT_EQ(parse(value)->label_key, std::nullopt);
}

TEST(AccountOfDocument, has_the_address_of_a_labeler) {
  auto value = made_document(kDid);
  EXPECT_EQ(parse(value)->labeler, "");
  value["service"].push_back({{"id", "#atproto_labeler"},
                              {"type", "AtprotoLabeler"},
                              {"serviceEndpoint", "https://Labeler.example/path"}});
  EXPECT_EQ(parse(value)->labeler, "https://labeler.example");
  value["service"].back()["serviceEndpoint"] = "nowhere at all";
  ASSERT_TRUE(parse(value)) << "the account is no worse for it";
  EXPECT_EQ(parse(value)->labeler, "");
  value["service"].back()["serviceEndpoint"] = "https://labeler.example";
  value["service"].back()["type"] = "Another";
  EXPECT_EQ(parse(value)->labeler, "");
}

struct Key {
  const char* name;
  const char* type;
  std::string multibase;
  std::string expected;  // empty: refused
};

class DocumentKey : public ::testing::TestWithParam<Key> {};

TEST_P(DocumentKey, is_read_or_refused) {
  auto value = made_document(kDid);
  value["verificationMethod"][0]["type"] = GetParam().type;
  value["verificationMethod"][0]["publicKeyMultibase"] = GetParam().multibase;
  const auto document = parse(value);
  if (GetParam().expected.empty()) {
    ASSERT_FALSE(document);
    EXPECT_EQ(document.error(), errc::document_key);
  } else {
    ASSERT_TRUE(document) << document.error().message();
    EXPECT_EQ(document->key->to_string(), GetParam().expected);
  }
}

constexpr const char* kLegacyK256 = "EcdsaSecp256k1VerificationKey2019";
constexpr const char* kLegacyP256 = "EcdsaSecp256r1VerificationKey2019";
const std::string kK256 = std::string(test::kK256X) + std::string(test::kK256Y);
const std::string kP256 = std::string(test::kP256X) + std::string(test::kP256Y);

INSTANTIATE_TEST_SUITE_P(
    Forms, DocumentKey,
    ::testing::Values(
        Key{"multikey_p256", "Multikey", test::p256_multikey(), test::p256_multikey()},
        Key{"legacy_k256", kLegacyK256, test::multibase("04" + kK256), test::k256_multikey()},
        Key{"legacy_k256_compressed", kLegacyK256, test::multibase("02" + kK256.substr(0, 64)),
            test::k256_multikey()},
        Key{"legacy_p256", kLegacyP256, test::multibase("04" + kP256), test::p256_multikey()},
        Key{"legacy_p256_compressed", kLegacyP256, test::multibase("03" + kP256.substr(0, 64)),
            test::p256_multikey()},
        Key{"point_of_the_other_curve", kLegacyP256, test::multibase("04" + kK256), ""},
        Key{"legacy_with_a_multikey", kLegacyK256, test::k256_multikey(), ""},
        Key{"multikey_without_prefix", "Multikey", test::multibase("04" + kK256), ""},
        Key{"not_on_the_curve", "Multikey", test::multibase("e70102" + std::string(64, '0')), ""},
        Key{"unknown_type", "JsonWebKey2020", test::k256_multikey(), ""},
        Key{"other_multibase", "Multikey", "u" + test::k256_multikey().substr(1), ""},
        Key{"no_base58", "Multikey", "z0OIl", ""}, Key{"nothing", "Multikey", "", ""}),
    [](const auto& test) { return test.param.name; });

struct Change {
  const char* name;
  std::function<void(json&)> change;
  errc error;
};

class BadDocument : public ::testing::TestWithParam<Change> {};

TEST_P(BadDocument, says_what_is_missing) {
  auto value = made_document(kDid);
  GetParam().change(value);
  const auto document = parse(value);
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadDocument,
    ::testing::Values(
        Change{"array", [](json& d) { d = json::array({d}); }, errc::document_json},
        Change{"other_did", [](json& d) { d["id"] = "did:plc:other"; }, errc::document_of_other},
        Change{"no_did", [](json& d) { d.erase("id"); }, errc::document_of_other},
        Change{"did_is_a_number", [](json& d) { d["id"] = 1; }, errc::document_of_other},
        Change{"did_with_a_fragment", [](json& d) { d["id"] = kDid + "#atproto"; },
               errc::document_of_other},
        Change{"method_id_is_a_list",
               [](json& d) { d["verificationMethod"][0]["id"] = json::array({"#atproto"}); },
               errc::document_without_key},
        Change{"methods_are_an_object",
               [](json& d) {
                 d["verificationMethod"] = {{"#atproto", d["verificationMethod"][0]}};
               },
               errc::document_without_key},
        Change{"key_is_an_object",
               [](json& d) { d["verificationMethod"][0]["publicKeyMultibase"] = json::object(); },
               errc::document_key},
        Change{"type_is_a_list",
               [](json& d) { d["verificationMethod"][0]["type"] = json::array({"Multikey"}); },
               errc::document_key},
        Change{"services_are_an_object", [](json& d) { d["service"] = d["service"][0]; },
               errc::document_without_pds},
        Change{"endpoint_is_a_list",
               [](json& d) {
                 d["service"][0]["serviceEndpoint"] = json::array({"https://pds.example"});
               },
               errc::document_pds},
        Change{"no_methods", [](json& d) { d.erase("verificationMethod"); },
               errc::document_without_key},
        Change{"methods_are_text", [](json& d) { d["verificationMethod"] = "x"; },
               errc::document_without_key},
        Change{"method_of_another_name",
               [](json& d) { d["verificationMethod"][0]["id"] = kDid + "#atproto_labels"; },
               errc::document_without_key},
        Change{"method_of_another_did",
               [](json& d) { d["verificationMethod"][0]["id"] = "did:plc:other#atproto"; },
               errc::document_without_key},
        Change{"methods_hold_nonsense",
               [](json& d) {
                 d["verificationMethod"] = json::array({1, nullptr, "#atproto"});
               },
               errc::document_without_key},
        Change{"no_services", [](json& d) { d.erase("service"); }, errc::document_without_pds},
        Change{"service_of_another_type", [](json& d) { d["service"][0]["type"] = "Labeler"; },
               errc::document_without_pds},
        Change{"endpoint_is_an_object",
               [](json& d) { d["service"][0]["serviceEndpoint"] = json::object(); },
               errc::document_pds},
        Change{"endpoint_is_a_file",
               [](json& d) { d["service"][0]["serviceEndpoint"] = "file:///etc/passwd"; },
               errc::document_pds},
        Change{"endpoint_without_host",
               [](json& d) { d["service"][0]["serviceEndpoint"] = "https://"; },
               errc::document_pds}),
    [](const auto& test) { return test.param.name; });

TEST(AccountOfDocument, is_no_json) {
  EXPECT_EQ(parse_did_document("{", kDid).error(), errc::document_json);
  EXPECT_EQ(parse_did_document("", kDid).error(), errc::document_json);
  EXPECT_EQ(parse_did_document("\xff", kDid).error(), errc::document_json);
}

TEST(AccountOfDocument, takes_ids_with_and_without_the_did) {
  auto value = made_document(kDid);
  value["verificationMethod"][0]["id"] = "#atproto";
  value["service"][0]["id"] = kDid + "#atproto_pds";
  EXPECT_TRUE(parse(value));
}

TEST(AccountOfDocument, takes_the_first_of_several) {
  auto value = made_document(kDid);
  auto second = value["verificationMethod"][0];
  second["publicKeyMultibase"] = test::p256_multikey();
  value["verificationMethod"].push_back(second);
  auto other = value["service"][0];
  other["serviceEndpoint"] = "https://other.example";
  value["service"].push_back(other);
  value["alsoKnownAs"] = {"https://alice.example", "at://not a handle", 7, "at://Alice.Example",
                          "at://second.example"};
  const auto document = parse(value);
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->key->to_string(), test::k256_multikey());
  EXPECT_EQ(document->pds, "https://pds.example");
  EXPECT_EQ(document->handle, "alice.example");
}

/// An entry of the same id, before the valid one.
struct Decoy {
  const char* name;
  const char* list;
  std::function<void(json&)> change;
};

class DocumentDecoy : public ::testing::TestWithParam<Decoy> {};

TEST_P(DocumentDecoy, is_passed_over) {
  auto value = made_document(kDid);
  auto& list = value[GetParam().list];
  auto decoy = list[0];
  if (decoy.contains("publicKeyMultibase")) decoy["publicKeyMultibase"] = test::p256_multikey();
  if (decoy.contains("serviceEndpoint")) decoy["serviceEndpoint"] = "https://other.example";
  GetParam().change(decoy);
  list.insert(list.begin(), decoy);
  const auto document = parse(value);
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->key->to_string(), test::k256_multikey());
  EXPECT_EQ(document->pds, "https://pds.example");
}

INSTANTIATE_TEST_SUITE_P(
    Table, DocumentDecoy,
    ::testing::Values(
        Decoy{"ed25519", "verificationMethod",
              [](json& d) {
                d["publicKeyMultibase"] = "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
              }},
        Decoy{"json_web_key", "verificationMethod", [](json& d) { d["type"] = "JsonWebKey2020"; }},
        Decoy{"key_without_type", "verificationMethod", [](json& d) { d.erase("type"); }},
        Decoy{"key_of_another_controller", "verificationMethod",
              [](json& d) { d["controller"] = "did:web:other.example"; }},
        Decoy{"key_is_a_number", "verificationMethod",
              [](json& d) { d["publicKeyMultibase"] = 7; }},
        Decoy{"service_of_another_type", "service", [](json& d) { d["type"] = "LinkedDomains"; }},
        Decoy{"endpoint_is_a_list", "service",
              [](json& d) { d["serviceEndpoint"] = json::array({"https://other.example"}); }},
        Decoy{"endpoint_is_no_url", "service",
              [](json& d) { d["serviceEndpoint"] = "other.example"; }}),
    [](const auto& test) { return test.param.name; });

TEST(AccountOfDocument, takes_a_key_without_a_controller) {
  auto value = made_document(kDid);
  value["verificationMethod"][0].erase("controller");
  EXPECT_TRUE(parse(value));
}

TEST(AccountOfDocument, the_first_valid_entry_of_a_labeler_counts) {
  auto value = made_document(kDid);
  auto method = value["verificationMethod"][0];
  method["id"] = "#atproto_label";
  method["controller"] = "did:web:other.example";
  value["verificationMethod"].push_back(method);
  method["controller"] = kDid;
  method["publicKeyMultibase"] = test::p256_multikey();
  value["verificationMethod"].push_back(method);
  for (const char* type : {"LinkedDomains", "AtprotoLabeler"}) {
    value["service"].push_back({{"id", "#atproto_labeler"},
                                {"type", type},
                                {"serviceEndpoint", std::string("https://") + type + ".example"}});
  }
  const auto document = parse(value);
  ASSERT_TRUE(document) << document.error().message();
  ASSERT_TRUE(document->label_key);
  EXPECT_EQ(document->label_key->to_string(), test::p256_multikey());
  EXPECT_EQ(document->labeler, "https://atprotolabeler.example");
}

/// A document of a labeler, with or without the parts of a repository.
json labeler_document() {
  json value = made_document(kDid);
  json method = value["verificationMethod"][0];
  method["id"] = kDid + "#atproto_label";
  method["publicKeyMultibase"] = test::p256_multikey();
  value["verificationMethod"].push_back(method);
  value["service"].push_back({{"id", "#atproto_labeler"},
                              {"type", "AtprotoLabeler"},
                              {"serviceEndpoint", "https://labeler.example"}});
  return value;
}

TEST(AccountOfDocument, of_a_labeler_needs_no_part_of_a_repository) {
  for (const bool has_key : {false, true}) {
    for (const bool has_pds : {false, true}) {
      json value = labeler_document();
      if (!has_key) value["verificationMethod"].erase(0);
      if (!has_pds) value["service"].erase(0);
      value.erase("alsoKnownAs");
      const auto document = parse(value);
      ASSERT_TRUE(document) << document.error().message();
      EXPECT_EQ(document->key.has_value(), has_key);
      EXPECT_EQ(document->pds, has_pds ? "https://pds.example" : "");
      EXPECT_EQ(document->label_key->to_string(), test::p256_multikey());
      EXPECT_EQ(document->labeler, "https://labeler.example");
    }
  }
}

TEST(AccountOfDocument, of_a_labeler_may_have_a_key_and_a_host_that_cannot_be_used) {
  json value = labeler_document();
  value["verificationMethod"][0]["type"] = "JsonWebKey2020";
  value["service"][0]["serviceEndpoint"] = "nowhere";
  const auto document = parse(value);
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->key, std::nullopt);
  EXPECT_EQ(document->pds, "");
  EXPECT_EQ(document->label_key->to_string(), test::p256_multikey());
  value["verificationMethod"][1]["publicKeyMultibase"] = "znonsense";
  EXPECT_EQ(parse(value).error(), errc::document_key) << "neither a repository nor a labeler";
  value["verificationMethod"][0] = made_document(kDid)["verificationMethod"][0];
  EXPECT_EQ(parse(value).error(), errc::document_pds);
}

TEST(AccountOfDocument, fields_of_a_wrong_type_count_as_absent) {
  json value = made_document(kDid);
  value["alsoKnownAs"] = {7, nullptr, {{"at", 1}}, "https://alice.example", "at://Alice.example"};
  value["@context"] = 7;
  value["verificationMethod"].insert(value["verificationMethod"].begin(), {nullptr, 7, "#atproto"});
  value["service"].insert(value["service"].begin(), {nullptr, 7, json::array()});
  for (const json& controller : {json(nullptr), json(7), json::array({kDid})}) {
    value["verificationMethod"].back()["controller"] = controller;
    const auto document = parse(value);
    ASSERT_TRUE(document) << controller << document.error().message();
    EXPECT_EQ(document->handle, "alice.example");
  }
}

TEST(AccountOfDocument, may_begin_with_a_byte_order_mark_and_blanks) {
  const std::string text = made_document(kDid).dump();
  for (const char* before : {"\xEF\xBB\xBF", "\n\t ", "\xEF\xBB\xBF\r\n"}) {
    EXPECT_TRUE(parse_did_document(before + text + "\n", kDid));
  }
  EXPECT_EQ(parse_did_document(text + "x", kDid).error(), errc::document_json);
  EXPECT_EQ(parse_did_document(text + "\xEF\xBB\xBF", kDid).error(), errc::document_json);
}

TEST(AccountOfDocument, needs_no_handle) {
  auto value = made_document(kDid);
  value["alsoKnownAs"] = "at://alice.example";
  EXPECT_EQ(parse(value)->handle, "");
  value.erase("alsoKnownAs");
  EXPECT_EQ(parse(value)->handle, "");
}

TEST(AccountOfDocument, keeps_of_the_pds_its_origin_alone) {
  EXPECT_EQ(pds_origin("https://PDS.example/").value(), "https://pds.example");
  EXPECT_EQ(pds_origin("http://localhost:2583/xrpc?a=b").value(), "http://localhost:2583");
  EXPECT_EQ(pds_origin("pds.example").error(), errc::document_pds);
}

TEST(AccountOfDocument, reads_real_ones) {
  SKUA_NEED_SHARED();
  const auto data = *test::shared_dir() / "data";
  const auto read = [](const std::filesystem::path& path) {
    return json::parse(test::read_file(path));
  };
  std::size_t count = 0;
  const auto legacy = read(data / "pds/did-docs.json");
  const auto multikey = read(data / "pds/did-docs-multikey.json");
  for (const auto& [did, value] : legacy.items()) {
    const auto old_form = parse_did_document(value.dump(), did);
    ASSERT_TRUE(old_form) << did << ": " << old_form.error().message();
    const auto new_form = parse_did_document(multikey.at(did).dump(), did);
    ASSERT_TRUE(new_form) << did << ": " << new_form.error().message();
    EXPECT_EQ(old_form->key, new_form->key) << did;
    EXPECT_EQ(old_form->pds, new_form->pds);
    EXPECT_FALSE(old_form->handle.empty());
    ++count;
  }
  EXPECT_EQ(count, 80U);
  for (const auto* name : {"paul_staging", "greenground"}) {
    const auto value = read(data / "repos" / (std::string(name) + ".didDoc.json"));
    EXPECT_TRUE(parse_did_document(value.dump(), value.at("id").get<std::string>())) << name;
  }
}

}  // namespace
}  // namespace skua::documents::did_document_test
