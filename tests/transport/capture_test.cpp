#include "transport/capture.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/shared_data.hpp"
#include "transport/errc.hpp"

namespace skua::transport::capture_test {
namespace {

using ::testing::HasSubstr;

/// A folder of its own for each test.
class Capture : public ::testing::Test {
 protected:
  void SetUp() override {
    auto pattern = (std::filesystem::temp_directory_path() / "skua-capture-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path path() const { return folder_ / "capture.frames"; }

  void write_bytes(const Bytes& bytes) const {
    std::ofstream out(path(), std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  }

  std::filesystem::path folder_;
};

std::vector<Bytes> read_all(CaptureReader& reader) {
  std::vector<Bytes> frames;
  auto frame = reader.next();
  for (; frame && *frame; frame = reader.next())
    frames.emplace_back((*frame)->begin(), (*frame)->end());
  return frames;
}

Bytes random_frame(std::mt19937& random, std::size_t size) {
  Bytes frame(size);
  std::generate(frame.begin(), frame.end(), [&] { return static_cast<std::uint8_t>(random()); });
  return frame;
}

TEST_F(Capture, has_its_lengths_in_little_endian) {
  CaptureWriter writer(path());
  writer.append(Bytes{0xaa, 0xbb, 0xcc});
  writer.flush();
  EXPECT_EQ(test::read_file(path()), (Bytes{3, 0, 0, 0, 0xaa, 0xbb, 0xcc}));
}

TEST_F(Capture, gives_back_what_was_written) {
  std::mt19937 random(20);
  std::vector<Bytes> frames;
  // Empty, small, larger than the buffers of reader and writer, and of the longest size.
  for (const std::size_t size : {0UL, 1UL, 5000UL, 1500000UL, kMaxFrameBytes, 2UL}) {
    frames.push_back(random_frame(random, size));
  }
  for (int i = 0; i < 1000; ++i) frames.push_back(random_frame(random, random() % 9000));
  std::uint64_t total = 0;
  {
    CaptureWriter writer(path());
    for (const auto& frame : frames) {
      writer.append(frame);
      total += 4 + frame.size();
    }
  }
  CaptureReader reader(path());
  EXPECT_EQ(read_all(reader), frames);
  EXPECT_EQ(reader.offset(), total);
  EXPECT_EQ(reader.torn_bytes(), 0U);
  EXPECT_EQ(reader.problem(), "");
}

TEST_F(Capture, is_appended_to) {
  for (const Bytes& frame : {Bytes{1}, Bytes{2}, Bytes{3}}) CaptureWriter(path()).append(frame);
  CaptureReader reader(path());
  EXPECT_EQ(read_all(reader), (std::vector<Bytes>{{1}, {2}, {3}}));
}

TEST_F(Capture, is_no_file_without_frames) {
  CaptureWriter(path()).flush();
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_THROW(CaptureWriter(path() / "below" / "file"), std::runtime_error);
}

TEST_F(Capture, may_be_empty) {
  write_bytes({});
  CaptureReader reader(path());
  EXPECT_TRUE(read_all(reader).empty());
  EXPECT_EQ(reader.problem(), "");
}

TEST_F(Capture, reports_a_torn_tail_wherever_it_is_torn) {
  const Bytes whole = {3, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 5, 6, 7, 8};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    write_bytes(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    CaptureReader reader(path());
    const std::size_t frames = size >= 15 ? 2 : size >= 7 ? 1 : 0;
    const std::size_t good = frames == 2 ? 15 : frames == 1 ? 7 : 0;
    EXPECT_EQ(read_all(reader).size(), frames) << size;
    EXPECT_EQ(reader.offset(), good) << size;
    EXPECT_EQ(reader.torn_bytes(), size - good) << size;
    EXPECT_EQ(reader.problem().empty(), size == good) << size;
  }
}

TEST_F(Capture, reports_an_oversized_length_and_its_offset) {
  write_bytes({1, 0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff, 1, 2, 3});
  CaptureReader reader(path());
  EXPECT_TRUE(reader.next().value().has_value());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(reader.next().error(), errc::capture_frame_too_large);
  EXPECT_EQ(reader.offset(), 5U);
  EXPECT_THAT(reader.problem(), HasSubstr("at offset 5"));
  EXPECT_THAT(reader.problem(), HasSubstr("4294967295 bytes"));
}

TEST_F(Capture, is_not_appended_to_after_a_torn_tail) {
  const Bytes torn = {3, 0, 0, 0, 1, 2, 3, 9, 0};
  write_bytes(torn);
  try {
    CaptureWriter writer(path());
    FAIL() << "appended to a torn capture";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("2 bytes from offset 7"));
    EXPECT_THAT(error.what(), HasSubstr("truncate -s 7 " + path().string()));
  }
  EXPECT_EQ(test::read_file(path()), torn);
}

TEST_F(Capture, is_not_appended_to_when_it_is_no_capture) {
  write_bytes({'h', 'e', 'l', 'l', 'o'});
  EXPECT_THROW(CaptureWriter{path()}, std::runtime_error);
}

TEST_F(Capture, refuses_a_frame_that_could_not_be_read_back) {
  CaptureWriter writer(path());
  EXPECT_THROW(writer.append(Bytes(kMaxFrameBytes + 1)), std::invalid_argument);
}

TEST_F(Capture, names_a_file_that_is_not_there) {
  try {
    CaptureReader reader(folder_ / "absent");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("absent: No such file"));
  }
}

TEST_F(Capture, names_a_file_that_cannot_be_read) {
  CaptureReader reader(folder_);  // a folder opens and does not read
  EXPECT_THROW(static_cast<void>(reader.next()), std::runtime_error);
}

TEST_F(Capture, says_when_the_disk_is_full) {
  CaptureWriter writer("/dev/full");
  writer.append(Bytes{1});
  EXPECT_THROW(writer.flush(), std::runtime_error);
}

TEST(SharedCapture, of_the_network_has90_frames) {
  SKUA_NEED_SHARED();
  CaptureReader reader(*test::shared_dir() / "data/frames/bsky-network-2026-07-04.frames");
  EXPECT_EQ(read_all(reader).size(), 90U);
  EXPECT_EQ(reader.problem(), "");
}

}  // namespace
}  // namespace skua::transport::capture_test
