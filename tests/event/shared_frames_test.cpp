#include <cstring>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "event/event_outline.hpp"
#include "event/frame_builder.hpp"
#include "event/frame_decoder.hpp"
#include "event/jetstream_message.hpp"
#include "event/tap_message.hpp"
#include "support/shared_data.hpp"

namespace skua::test::shared_frames_test {
namespace {

using event::DecodedFrame;

/// Calls `visit` with each decoded frame of a capture; all must decode, and as the peek says.
template <class F>
std::size_t each_frame(const std::filesystem::path& file, F&& visit) {
  const Bytes capture = read_file(file);
  event::FrameDecoder decoder;
  DecodedFrame frame;
  std::size_t frames = 0;
  for (std::size_t at = 0; at + 4 <= capture.size();) {
    std::uint32_t size = 0;
    std::memcpy(&size, capture.data() + at, 4);
    const ByteView bytes = ByteView(capture).subspan(at + 4, size);
    at += 4 + size;
    ++frames;
    const auto decoded = decoder.decode(bytes, frame);
    EXPECT_TRUE(decoded) << "frame " << frames << ": " << decoded.error().message();
    const auto peek = event::peek_frame(bytes);
    EXPECT_TRUE(peek);
    if (!decoded || !peek) break;
    EXPECT_EQ(peek->type, frame.type);
    EXPECT_EQ(peek->seq, frame.seq);
    EXPECT_EQ(peek->did, frame.did);
    visit(frame);
  }
  return frames;
}

/// An event without what another server says in its own way: the time it was passed on.
json comparable(json event) {
  event.erase("time_us");
  for (const char* kind : {"identity", "account"}) {
    if (event.contains(kind)) event[kind].erase("time");
  }
  return event;
}

TEST(SharedFramesTest, real_frames_give_the_events_of_jetstream) {
  SKUA_NEED_SHARED();
  const auto folder = *shared_dir() / "data/frames";
  std::map<std::string, int> balance;
  std::ifstream expected(folder / "bsky-network-2026-07-04.expected.jsonl");
  std::size_t expected_events = 0;
  for (std::string line; std::getline(expected, line); ++expected_events) {
    ++balance[comparable(json::parse(line)).dump()];
  }
  event::JetstreamWriter writer;
  std::size_t events = 0;
  const std::size_t frames =
      each_frame(folder / "bsky-network-2026-07-04.frames", [&](const DecodedFrame& frame) {
        for (const auto& event : frame.events) {
          std::string line;
          ASSERT_TRUE(writer.append(line, event, frame.time));
          --balance[comparable(json::parse(line)).dump()];
          ++events;
        }
      });
  EXPECT_EQ(frames, 90U);
  EXPECT_EQ(expected_events, 92U);
  EXPECT_EQ(events, expected_events);
  for (const auto& [event, difference] : balance) EXPECT_EQ(difference, 0) << event;
}

TEST(SharedFramesTest, every_frame_of_the_capture_decodes) {
  SKUA_NEED_SHARED();
  std::map<std::string, int> invalid;
  std::map<event::MessageType, int> messages;
  int with_nul = 0;
  int notes = 0;
  int rejected = 0;
  std::int64_t last_seq = 0;
  const std::size_t frames =
      each_frame(*shared_dir() / "data/pds/frames.bin", [&](const DecodedFrame& frame) {
        EXPECT_EQ(frame.seq, last_seq + 1);
        last_seq = frame.seq;
        ++messages[frame.type];
        for (const auto& event : frame.events) {
          const auto* change = std::get_if<event::RecordChange>(&event.body);
          rejected += std::holds_alternative<event::Rejection>(event.body) ? 1 : 0;
          if (change == nullptr || change->operation == event::Operation::Delete) continue;
          if (change->record.invalid_reason) {
            ++invalid[*change->record.invalid_reason];
          } else if (const auto* post = std::get_if<records::Post>(&change->record.record)) {
            with_nul += post->text.find('\0') != std::string_view::npos ? 1 : 0;
          }
          notes += change->collection == "com.example.custom.note" ? 1 : 0;
        }
      });
  EXPECT_EQ(frames, 11'330U);
  EXPECT_EQ(messages[event::MessageType::Commit], 10'967);
  EXPECT_EQ(rejected, 0);
  EXPECT_EQ(notes, 16);
  EXPECT_EQ(with_nul, 18);
  const std::map<std::string, int> expected = {{"createdAt: missing", 18},
                                               {"createdAt: not a datetime", 18},
                                               {"subject.uri: not an AT-URI", 20},
                                               {"text: more than 3000 bytes", 10}};
  EXPECT_EQ(invalid, expected);
}

/// A relay that writes its headers as {op, t}.
TEST(SharedFramesTest, frames_of_the_simulator_of_jetstream_decode) {
  SKUA_NEED_SHARED();
  std::map<event::MessageType, int> messages;
  int rejected = 0;
  const std::size_t frames = each_frame(
      *shared_dir() / "data/frames/jetstream-simulator.frames", [&](const DecodedFrame& frame) {
        ++messages[frame.type];
        for (const auto& event : frame.events) {
          rejected += std::holds_alternative<event::Rejection>(event.body) ? 1 : 0;
        }
      });
  EXPECT_EQ(frames, 400U);
  EXPECT_EQ(messages[event::MessageType::Commit], 385);
  EXPECT_EQ(messages[event::MessageType::Identity], 15);
  EXPECT_EQ(rejected, 0);
}

/// The text that production Jetstream sent, read back, is what the frame decoder made of the
/// frames.
TEST(SharedFramesTest, the_events_of_jetstream_are_those_of_the_frames) {
  SKUA_NEED_SHARED();
  const auto folder = *shared_dir() / "data/frames";
  std::map<std::string, int> balance;
  each_frame(folder / "bsky-network-2026-07-04.frames", [&](const DecodedFrame& frame) {
    for (const auto& event : frame.events) ++balance[outline_of(event)];
  });
  event::JetstreamDecoder decoder;
  event::JetstreamMessage message;
  std::ifstream lines(folder / "bsky-network-2026-07-04.expected.jsonl");
  int events = 0;
  for (std::string line; std::getline(lines, line); ++events) {
    ASSERT_TRUE(decoder.decode(line, message)) << line;
    EXPECT_TRUE(message.cid_matches) << line;
    for (const auto& event : message.events) --balance[outline_of(event)];
  }
  EXPECT_EQ(events, 92);
  for (const auto& [event, difference] : balance) EXPECT_EQ(difference, 0) << event;
}

/// A line of Jetstream as the message of Tap that says the same.
std::string tap_text(const json& line, std::int64_t id) {
  json body = line.at("commit");
  body["did"] = line.at("did");
  body["live"] = true;
  body["action"] = body.at("operation");
  body.erase("operation");
  return json({{"id", id}, {"type", "record"}, {"record", body}}).dump();
}

/// Frames, written as JSON and read back, are the same events: block for block.
TEST(SharedFramesTest, every_event_of_the_capture_comes_back_through_json) {
  SKUA_NEED_SHARED();
  event::JetstreamWriter writer;
  event::JetstreamDecoder jetstream;
  event::JetstreamMessage event_message;
  event::TapDecoder tap;
  event::TapMessage tap_message;
  int events = 0;
  int records = 0;
  each_frame(*shared_dir() / "data/pds/frames.bin", [&](const DecodedFrame& frame) {
    for (const auto& event : frame.events) {
      const std::string expected = outline_of(event);
      std::string line;
      ASSERT_TRUE(writer.append(line, event, frame.time));
      ASSERT_TRUE(jetstream.decode(line, event_message)) << line;
      EXPECT_TRUE(event_message.cid_matches) << line;
      EXPECT_EQ(outline_of(event_message.events.at(0)), expected);
      ++events;
      if (!std::holds_alternative<event::RecordChange>(event.body)) continue;
      ASSERT_TRUE(tap.decode(tap_text(json::parse(line), events), frame.time, tap_message));
      EXPECT_TRUE(tap_message.cid_matches) << line;
      EXPECT_EQ(outline_of(tap_message.events.at(0)), expected);
      ++records;
    }
  });
  EXPECT_GT(events, records);
  EXPECT_GT(records, 10'000);
}

TEST(SharedFramesTest, the_error_frame_has_its_words) {
  SKUA_NEED_SHARED();
  std::string name;
  EXPECT_EQ(each_frame(*shared_dir() / "data/pds/frame-error-future-cursor.bin",
                       [&](const DecodedFrame& frame) { name = frame.name; }),
            1U);
  EXPECT_EQ(name, "FutureCursor");
}

}  // namespace
}  // namespace skua::test::shared_frames_test
