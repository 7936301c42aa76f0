#include "documents/document_file.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <zstd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skua::documents::document_file_test {
namespace {

using nlohmann::json;

json document_of(const std::string& did) {
  return {{"id", did},
          {"alsoKnownAs", {"at://alice.test"}},
          {"verificationMethod",
           {{{"id", did + "#atproto"},
             {"type", "Multikey"},
             {"controller", did},
             {"publicKeyMultibase", "zQ3shXjHeiBuRCKmM36cuYnm7YEMzhGnCmCyW92sRJ9pribSF"}}}},
          {"service",
           {{{"id", "#atproto_pds"},
             {"type", "AtprotoPersonalDataServer"},
             {"serviceEndpoint", "https://pds.test"}}}}};
}

const std::string kAlice = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
const std::string kBob = "did:plc:bbbbbbbbbbbbbbbbbbbbbbbb";

class DocumentFileTest : public testing::Test {
 protected:
  ~DocumentFileTest() override { std::filesystem::remove(path_); }

  DocumentFile read(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    return DocumentFile::read(path_);
  }
  std::string error_of(const std::string& content) {
    try {
      read(content);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  }
  static std::string packed(const std::string& text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
    return out;
  }

  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("skua-documents-" + std::to_string(::getpid()));
};

TEST_F(DocumentFileTest, reads_one_document) {
  const auto file = read(document_of(kAlice).dump());
  EXPECT_EQ(file.size(), 1U);
  ASSERT_NE(file.find(kAlice), nullptr);
  EXPECT_EQ(file.find(kAlice)->pds, "https://pds.test");
  EXPECT_EQ(file.find(kBob), nullptr);
}

TEST_F(DocumentFileTest, reads_an_array_and_an_object_plain_and_packed) {
  const json array = {document_of(kAlice), document_of(kBob)};
  const json object = {{kAlice, document_of(kAlice)}, {kBob, document_of(kBob)}};
  for (const std::string& text : {array.dump(), object.dump()}) {
    for (const std::string& content : {text, packed(text)}) {
      const auto file = read(content);
      EXPECT_EQ(file.size(), 2U);
      EXPECT_NE(file.find(kBob), nullptr);
      EXPECT_EQ(file.problem(), "");
    }
  }
}

TEST_F(DocumentFileTest, leaves_out_what_cannot_be_used_and_says_so) {
  json keyless = document_of(kBob);
  keyless.erase("verificationMethod");
  const auto file = read(json({document_of(kAlice), keyless, 7}).dump());
  EXPECT_EQ(file.size(), 1U);
  EXPECT_EQ(file.problem().find("2 of 3 documents unusable, the first is " + kBob), 0U)
      << file.problem();
  // Under another account's name it is not that account's.
  EXPECT_EQ(read(json({{kBob, document_of(kAlice)}}).dump()).find(kBob), nullptr);
}

TEST_F(DocumentFileTest, says_what_is_wrong_with_a_file) {
  EXPECT_NE(error_of("no json").find("no DID document"), std::string::npos);
  EXPECT_NE(error_of("").find("no DID document"), std::string::npos);
  const std::string whole = packed(document_of(kAlice).dump());
  EXPECT_NE(error_of(whole.substr(0, whole.size() / 2)).find("ends in the middle"),
            std::string::npos);
  EXPECT_THROW(DocumentFile::read("/nonexistent/documents.json"), std::runtime_error);
}

}  // namespace
}  // namespace skua::documents::document_file_test
