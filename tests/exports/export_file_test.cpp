#include "exports/export_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::exports::export_file_test {
namespace {

using testing::HasSubstr;
using Start = ExportFile::Start;

class ExportFileTest : public testing::Test {
 protected:
  ExportFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "skua-export-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ExportFileTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file() const { return folder_ / "rows.csv"; }
  std::filesystem::path part() const { return folder_ / "rows.csv.part"; }
  std::filesystem::path checkpoint() const { return folder_ / "rows.csv.checkpoint"; }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// Leaves the file of an export that ended after its second range: the first range is saved.
  void leave_unfinished() const {
    ExportFile export_file(file(), Start::New);
    export_file.write("head\none\n");
    export_file.save({.request = "request",
                      .since = "2026-07-04T00:00:00.000000Z",
                      .first_key = 1,
                      .last_key = 9'007'199'254'740'993,
                      .next_key = 5,
                      .rows = 1});
    // The buffer reaches the file, but no checkpoint names it.
    export_file.write(std::string(3'000'000, 'x'));
  }
  std::string refusal(Start start) const {
    try {
      const ExportFile export_file(file(), start);
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(ExportFileTest, GetsItsNameWhenItIsComplete) {
  {
    ExportFile export_file(file(), Start::New);
    export_file.write("one\n");
    export_file.save({.request = "request"});
    export_file.write("two\n");
    EXPECT_EQ(export_file.size(), 8U);
    EXPECT_FALSE(std::filesystem::exists(file()));
    export_file.finish();
  }
  EXPECT_EQ(read(file()), "one\ntwo\n");
  EXPECT_FALSE(std::filesystem::exists(part()));
  EXPECT_FALSE(std::filesystem::exists(checkpoint()));
}

TEST_F(ExportFileTest, ContinuesBehindTheLastCheckpoint) {
  leave_unfinished();
  EXPECT_GT(std::filesystem::file_size(part()), 1'000'000U);
  ExportFile export_file(file(), Start::Resume);
  ASSERT_TRUE(export_file.continued());
  EXPECT_EQ(export_file.continued()->request, "request");
  EXPECT_EQ(export_file.continued()->since, "2026-07-04T00:00:00.000000Z");
  EXPECT_EQ(export_file.continued()->first_key, 1);
  EXPECT_EQ(export_file.continued()->last_key, 9'007'199'254'740'993);
  EXPECT_EQ(export_file.continued()->next_key, 5);
  EXPECT_EQ(export_file.continued()->rows, 1U);
  EXPECT_EQ(export_file.continued()->bytes, 9U);
  EXPECT_EQ(export_file.size(), 9U);
  export_file.write("two\n");
  export_file.finish();
  EXPECT_EQ(read(file()), "head\none\ntwo\n");
}

TEST_F(ExportFileTest, ANewExportKeepsAnUnfinishedOne) {
  leave_unfinished();
  EXPECT_THAT(refusal(Start::New), HasSubstr("--resume continues it, --replace begins again"));
  EXPECT_EQ(read(part()).substr(0, 9), "head\none\n");
}

TEST_F(ExportFileTest, ReplaceForgetsAnUnfinishedExport) {
  leave_unfinished();
  ExportFile export_file(file(), Start::Replace);
  EXPECT_FALSE(export_file.continued());
  EXPECT_FALSE(std::filesystem::exists(checkpoint()));
  export_file.write("new\n");
  export_file.finish();
  EXPECT_EQ(read(file()), "new\n");
}

TEST_F(ExportFileTest, AnExistingFileStaysUnlessItIsReplaced) {
  std::ofstream(file()) << "old";
  EXPECT_THAT(refusal(Start::New), HasSubstr("exists: --replace replaces it"));
  EXPECT_THAT(refusal(Start::Resume), HasSubstr("exists: --replace replaces it"));
  EXPECT_FALSE(std::filesystem::exists(part()));
  {
    ExportFile export_file(file(), Start::Replace);
    export_file.write("new");
    EXPECT_EQ(read(file()), "old");
    export_file.finish();
  }
  EXPECT_EQ(read(file()), "new");
}

TEST_F(ExportFileTest, ResumeWithoutACheckpointBegins) {
  std::ofstream(part()) << "rows before the first checkpoint";
  ExportFile export_file(file(), Start::Resume);
  EXPECT_FALSE(export_file.continued());
  EXPECT_EQ(export_file.size(), 0U);
  export_file.finish();
  EXPECT_EQ(read(file()), "");
}

TEST_F(ExportFileTest, AnExportThatEndedBetweenItsLastStepsIsComplete) {
  leave_unfinished();
  std::filesystem::rename(part(), file());
  ExportFile export_file(file(), Start::Resume);
  EXPECT_TRUE(export_file.is_complete());
  EXPECT_FALSE(std::filesystem::exists(checkpoint()));
  EXPECT_FALSE(std::filesystem::exists(part()));
  EXPECT_GT(std::filesystem::file_size(file()), 1'000'000U);
}

TEST_F(ExportFileTest, ADamagedStateIsRefused) {
  leave_unfinished();
  std::filesystem::resize_file(part(), 5);
  EXPECT_THAT(refusal(Start::Resume), HasSubstr("has 5 bytes"));
  std::ofstream(checkpoint()) << "{";
  EXPECT_THAT(refusal(Start::Resume), HasSubstr("--replace begins again"));
}

TEST_F(ExportFileTest, ASecondExportToTheSameFileIsRefused) {
  const ExportFile export_file(file(), Start::New);
  EXPECT_THAT(refusal(Start::New), HasSubstr("another process writes"));
  EXPECT_THAT(refusal(Start::Replace), HasSubstr("another process writes"));
}

TEST_F(ExportFileTest, AFolderThatDoesNotExist) {
  EXPECT_THROW(ExportFile(folder_ / "none" / "rows.csv", Start::New), FileError);
}

}  // namespace
}  // namespace skua::exports::export_file_test
