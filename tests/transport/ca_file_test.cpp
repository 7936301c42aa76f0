#include "transport/ca_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/throwaway_certificate.hpp"

namespace skua::transport::ca_file_test {
namespace {

class CaFile : public testing::Test {
 protected:
  void SetUp() override {
    auto pattern = (std::filesystem::temp_directory_path() / "skua-ca-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& content) {
    const auto path = folder_ / "ca.pem";
    std::ofstream(path) << content;
    return path.string();
  }

  std::filesystem::path folder_;
};

TEST_F(CaFile, with_a_certificate_is_good) {
  EXPECT_NO_THROW(check_ca_file(file(make_throwaway_certificate({"pds.example"}).certificate_pem)));
}

TEST_F(CaFile, without_one_is_refused_by_name) {
  for (const std::string& wrong : {file("no certificate"), (folder_ / "absent.pem").string()}) {
    try {
      check_ca_file(wrong);
      ADD_FAILURE() << wrong;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(wrong));
    }
  }
}

}  // namespace
}  // namespace skua::transport::ca_file_test
