#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "documents/did_document.hpp"
#include "documents/errc.hpp"
#include "documents/export_page.hpp"
#include "documents/made_export.hpp"
#include "support/shared_data.hpp"

namespace skua::documents::export_line_test {
namespace {

using nlohmann::json;

const std::string kDid = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
const std::string kKey = "did:key:" + test::k256_multikey();

json operation(const std::string& handle = "alice.example") {
  return test::made_operation(handle);
}

std::string line(const std::string& did, int second, const json& operation,
                 bool nullified = false) {
  return test::made_line(did, std::chrono::seconds(second), operation, nullified);
}

TEST(ExportLine, reads_an_operation) {
  const auto read = parse_export_line(line(kDid, 7, operation("Alice.Example")));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->row.did, kDid);
  EXPECT_EQ(read->row.signing_key, test::k256_multikey());
  EXPECT_EQ(read->row.pds, "https://pds.example");
  EXPECT_EQ(read->row.handle, "alice.example");
  EXPECT_EQ(read->row.operation_at, Timestamp(std::chrono::seconds(1'700'000'007)));
  EXPECT_FALSE(read->nullified);
  EXPECT_TRUE(parse_export_line(line(kDid, 7, operation(), true))->nullified);
}

TEST(ExportLine, reads_the_legacy_form) {
  json create = {{"type", "create"},
                 {"signingKey", kKey},
                 {"recoveryKey", kKey},
                 {"handle", "alice.example"},
                 {"service", "https://pds.example"}};
  for (const auto* service : {"https://pds.example", "pds.example"}) {
    create["service"] = service;
    const auto read = parse_export_line(line(kDid, 0, create));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->row.signing_key, test::k256_multikey());
    EXPECT_EQ(read->row.pds, "https://pds.example");
    EXPECT_EQ(read->row.handle, "alice.example");
  }
}

TEST(ExportLine, leaves_out_what_cannot_be_used) {
  auto odd = operation("not a handle");
  odd["verificationMethods"]["atproto"] =
      "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
  odd["services"]["atproto_pds"]["endpoint"] = "file:///etc/passwd";
  const auto read = parse_export_line(line(kDid, 0, odd));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->row.signing_key, "");
  EXPECT_EQ(read->row.pds, "");
  EXPECT_EQ(read->row.handle, "");
  const auto bare = parse_export_line(line(kDid, 0, {{"type", "plc_operation"}}));
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->row.signing_key, "");
  EXPECT_EQ(parse_export_line(line(kDid, 0, {{"type", "plc_tombstone"}}))->row.signing_key, "");
}

TEST(ExportLine, refuses_the_rest) {
  for (const auto& bad :
       {std::string("{"), std::string("[]"), std::string("7"), line("alice", 0, operation()),
        line(kDid, 0, {{"type", "other"}}), line(kDid, 0, "text"),
        json{{"did", kDid}, {"operation", operation()}, {"createdAt", "yesterday"}}.dump()}) {
    EXPECT_EQ(parse_export_line(bad).error(), errc::export_line) << bad;
  }
}

TEST(ExportLine, reads_real_ones) {
  SKUA_NEED_SHARED();
  const auto log =
      json::parse(test::read_file(*test::shared_dir() / "data/pds/plc-audit-logs.json"));
  const auto documents =
      json::parse(test::read_file(*test::shared_dir() / "data/pds/did-docs-multikey.json"));
  std::size_t count = 0;
  for (const auto& [did, operations] : log.items()) {
    for (const auto& operation : operations) {
      ASSERT_TRUE(parse_export_line(operation.dump())) << operation.dump();
      ++count;
    }
    const auto last = parse_export_line(operations.back().dump());
    const auto document = parse_did_document(documents.at(did).dump(), did);
    ASSERT_TRUE(document);
    EXPECT_EQ(last->row.signing_key, document->key->to_string());
    EXPECT_EQ(last->row.pds, document->pds);
    EXPECT_EQ(last->row.handle, document->handle);
  }
  EXPECT_GE(count, 80U);
}

TEST(ExportLine, has_the_cid_of_its_operation) {
  const auto cid_of = [](const json& cid) {
    auto text = json::parse(line(kDid, 0, operation()));
    text["cid"] = cid;
    return parse_export_line(text.dump())->cid;
  };
  EXPECT_EQ(cid_of("bafyreiabc234"), "bafyreiabc234");
  EXPECT_EQ(cid_of(std::string(128, 'a')), std::string(128, 'a'));
  EXPECT_EQ(cid_of(std::string(129, 'a')), "");
  EXPECT_EQ(cid_of("bafy\\rei"), "");
  EXPECT_EQ(cid_of(7), "");
}

TEST(ExportPosition, is_known_of_operations_that_cannot_be_used) {
  const auto known = export_position(line("alice", 3, {{"type", "other"}}));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->created_at, test::kExportStart + std::chrono::seconds(3));
  EXPECT_EQ(known->cid, "bafyrei");
  for (const auto& bad : {std::string("{"), std::string("[]"), std::string("7"),
                          std::string(R"({"cid":"bafyrei","createdAt":"yesterday"})"),
                          std::string(R"({"createdAt":"2026-01-01T00:00:00Z"})")}) {
    EXPECT_FALSE(export_position(bad)) << bad;
  }
}

}  // namespace
}  // namespace skua::documents::export_line_test
