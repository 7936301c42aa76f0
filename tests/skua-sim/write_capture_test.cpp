#include "world/write_capture.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "event/frame_decoder.hpp"
#include "skua-sim/heard_network.hpp"
#include "transport/capture.hpp"

namespace skua::sim::write_capture_test {
namespace {

class WriteCapture : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(WriteCapture, is_numbered_and_decodes) {
  CaptureSettings settings;
  settings.network = test_cases::small_settings(40);
  settings.file = folder_ / "frames";
  settings.dump = folder_ / "dump";
  settings.events = 2'000;
  std::size_t reports = 0;
  const CaptureReport report = write_capture(settings, [&](const CaptureReport&) { ++reports; });
  EXPECT_GT(reports, 0U);
  EXPECT_GE(report.events, settings.events);

  transport::CaptureReader reader(settings.file);
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  std::uint64_t frames = 0;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  Timestamp last = settings.start;
  for (auto frame = reader.next(); frame && *frame; frame = reader.next()) {
    ASSERT_TRUE(decoder.decode(**frame, decoded));
    EXPECT_EQ(decoded.seq, static_cast<std::int64_t>(++frames));
    EXPECT_GE(decoded.time, last);
    last = decoded.time;
    events += decoded.events.size();
    bytes += (*frame)->size();
  }
  EXPECT_TRUE(reader.problem().empty());
  EXPECT_EQ(frames, report.frames);
  EXPECT_EQ(events, report.events);
  EXPECT_EQ(bytes, report.bytes);
  EXPECT_TRUE(std::filesystem::exists(settings.dump / "accounts.json"));
}

TEST_F(WriteCapture, refuses_a_file_that_is_there) {
  CaptureSettings settings;
  settings.network = test_cases::small_settings(41);
  settings.file = folder_ / "frames";
  settings.events = 10;
  write_capture(settings, {});
  EXPECT_THROW(write_capture(settings, {}), std::runtime_error);
}

}  // namespace
}  // namespace skua::sim::write_capture_test
