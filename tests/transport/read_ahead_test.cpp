#include "transport/impl/read_ahead.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/test_vectors.hpp"

namespace skua::transport::impl::read_ahead_test {
namespace {

constexpr std::size_t kSize = 100'000;
constexpr std::size_t kLimit = 70'000;

void fill(ReadAhead& ahead, ByteView bytes) {
  const auto space = ahead.space();
  ASSERT_GE(space.size(), bytes.size());
  std::copy(bytes.begin(), bytes.end(), space.begin());
  ahead.filled(bytes.size());
}

/// What one read takes, as text.
std::string take(ReadAhead& ahead, std::size_t most = kSize) {
  Bytes to(most);
  to.resize(ahead.take(to));
  return {to.begin(), to.end()};
}

Bytes joined(const std::string& head, std::string_view content) {
  Bytes bytes = test::from_hex(head);
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

struct Frame {
  const char* name;
  std::string head;  // in hex
  std::string content;
  /// Whether it is a message that needs no Beast.
  bool is_ordinary = false;
};

class ReadAheadFrame : public ::testing::TestWithParam<Frame> {};

// Cuts the frame after each byte of its head, within its content and before its end. A frame that
// is not ordinary stays for Beast as a whole, and the next message is a message in any case.
TEST_P(ReadAheadFrame, is_taken_as_a_message_or_is_left) {
  const Frame& frame = GetParam();
  const Bytes bytes = joined(frame.head, frame.content);
  const Bytes next = test::from_hex("8203010203");
  std::vector<std::size_t> cuts;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 20); ++i) cuts.push_back(i);
  cuts.push_back(bytes.size() - 1);
  for (const std::size_t cut : cuts) {
    SCOPED_TRACE(cut);
    ReadAhead ahead(kSize);
    ahead.begin_frames();
    fill(ahead, ByteView(bytes).first(cut));
    EXPECT_FALSE(ahead.take_message(kLimit));
    fill(ahead, ByteView(bytes).subspan(cut));
    fill(ahead, next);
    const auto message = ahead.take_message(kLimit);
    ASSERT_EQ(message.has_value(), frame.is_ordinary);
    if (message) {
      EXPECT_EQ(as_text(message->content), frame.content);
      EXPECT_EQ(message->text, bytes[0] == 0x81);
    } else {
      EXPECT_EQ(take(ahead, 1), std::string(1, static_cast<char>(bytes[0])));
      EXPECT_FALSE(ahead.take_message(kLimit)) << "within a frame";
      EXPECT_EQ(take(ahead), std::string(bytes.begin() + 1, bytes.end()));
    }
    const auto second = ahead.take_message(kLimit);
    ASSERT_TRUE(second);
    EXPECT_EQ(test::to_hex(Bytes(second->content.begin(), second->content.end())), "010203");
    EXPECT_FALSE(second->text);
    EXPECT_EQ(take(ahead), "");
  }
}

// Also without cuts, an ordinary frame may be read by Beast, and in parts of any size.
TEST_P(ReadAheadFrame, ends_a_read) {
  const Bytes bytes = joined(GetParam().head, GetParam().content);
  const std::string text(bytes.begin(), bytes.end());
  std::mt19937 random(7);
  for (const std::size_t most : {1, 2, 3, 14, 1536, 99'000}) {
    SCOPED_TRACE(most);
    ReadAhead ahead(kSize * 3);
    ahead.begin_frames();
    for (int i = 0; i < 3; ++i) fill(ahead, bytes);
    for (int i = 0; i < 3; ++i) {
      std::string all;
      while (all.size() < text.size()) {
        const std::string part = take(ahead, most);
        ASSERT_FALSE(part.empty());
        all += part;
      }
      ASSERT_EQ(all, text);
    }
  }
}

std::string of(std::size_t size) {
  return std::string(size, 'x');
}

// RFC 6455, section 5.2: FIN, three reserved bits and the opcode; the mask bit and the length; the
// longer length; the mask.
INSTANTIATE_TEST_SUITE_P(
    Table, ReadAheadFrame,
    ::testing::Values(
        Frame{"binary", "8205", of(5), true}, Frame{"text", "8105", of(5), true},
        Frame{"empty_binary", "8200", "", true}, Frame{"empty_text", "8100", "", true},
        Frame{"of_125", "827d", of(125), true}, Frame{"of_126", "827e007e", of(126), true},
        Frame{"of_65535", "827effff", of(65535), true},
        Frame{"text_of_300", "817e012c", of(300), true},
        Frame{"text_beyond_ascii", "8106", "h\xc3\xa9llo", true},
        Frame{"of_65536", "827f0000000000010000", of(65536)},
        Frame{"of_the_limit", "827f0000000000011170", of(70'000)},
        Frame{"above_the_limit", "827f0000000000011171", of(70'001)},
        Frame{"long_form_of_5", "827e0005", of(5)}, Frame{"long_form_of_125", "827e007d", of(125)},
        Frame{"longest_form_of_5", "827f0000000000000005", of(5)},
        Frame{"longest_form_of_300", "827f000000000000012c", of(300)},
        Frame{"text_not_utf8", "8103", "a\xff\x62"}, Frame{"text_cut_character", "8102", "a\xc3"},
        Frame{"first_fragment_of_binary", "0205", of(5)},
        Frame{"first_fragment_of_text", "0105", of(5)}, Frame{"middle_fragment", "0005", of(5)},
        Frame{"last_fragment", "8005", of(5)}, Frame{"empty_fragment", "0000", ""},
        Frame{"ping", "8900", ""}, Frame{"ping_with_data", "8905", of(5)},
        Frame{"pong", "8a03", of(3)}, Frame{"close", "8800", ""},
        Frame{"close_with_reason", "8805",
              "\x03\xe8"
              "bye"},
        Frame{"fragment_of_a_ping", "0900", ""}, Frame{"ping_of_126", "897e007e", of(126)},
        Frame{"first_reserved_bit", "c205", of(5)}, Frame{"second_reserved_bit", "a205", of(5)},
        Frame{"third_reserved_bit", "9205", of(5)}, Frame{"opcode_3", "8302", of(2)},
        Frame{"opcode_7", "8702", of(2)}, Frame{"opcode_11", "8b02", of(2)},
        Frame{"opcode_15", "8f02", of(2)}, Frame{"masked", "828501020304", of(5)},
        Frame{"masked_of_126", "82fe007e01020304", of(126)},
        Frame{"masked_empty", "828001020304", ""},
        Frame{"masked_longest_form", "82ff000000000000000501020304", of(5)}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ReadAhead, leaves_a_message_above_the_limit) {
  ReadAhead ahead(kSize);
  ahead.begin_frames();
  fill(ahead, joined("8205", "12345"));
  EXPECT_FALSE(ahead.take_message(4));
  EXPECT_TRUE(ahead.take_message(5));
}

// The size of a frame may be a number that no sum with it fits.
TEST(ReadAhead, survives_a_frame_of_all_bytes_that_there_are) {
  ReadAhead ahead(20);
  ahead.begin_frames();
  fill(ahead, test::from_hex("82ffffffffffffffffff01020304"));
  EXPECT_EQ(take(ahead).size(), 14U);
  for (int i = 0; i < 10; ++i) {
    fill(ahead, test::from_hex("8201ff"));
    EXPECT_FALSE(ahead.take_message(kLimit));
    EXPECT_EQ(take(ahead).size(), 3U);
  }
}

struct Answer {
  const char* name;
  std::string head;
};

class ReadAheadAnswer : public ::testing::TestWithParam<Answer> {};

// Beast gets the whole head, in which it finds no frame, wherever the connection was cut.
TEST_P(ReadAheadAnswer, ends_with_its_empty_line) {
  const std::string& head = GetParam().head;
  const Bytes frames = test::from_hex("82020d0a820141");
  Bytes bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), frames.begin(), frames.end());
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    SCOPED_TRACE(cut);
    ReadAhead ahead(kSize);
    fill(ahead, ByteView(bytes).first(cut));
    std::string got = take(ahead);
    fill(ahead, ByteView(bytes).subspan(cut));
    while (got.size() < head.size()) {
      const std::string part = take(ahead, 3);
      ASSERT_FALSE(part.empty());
      got += part;
    }
    ASSERT_EQ(got, head);
    EXPECT_FALSE(ahead.take_message(kLimit)) << "the answer may be a refusal";
    ahead.begin_frames();
    const auto message = ahead.take_message(kLimit);
    ASSERT_TRUE(message);
    EXPECT_EQ(as_text(message->content), "\r\n");
    EXPECT_EQ(take(ahead),
              "\x82\x01"
              "A");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ReadAheadAnswer,
    ::testing::Values(Answer{"shortest", "HTTP/1.1 101 OK\r\n\r\n"},
                      Answer{"with_fields", "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nA:\r\n\r\n"},
                      Answer{"with_bare_returns", "HTTP/1.1 101 OK\r\nA: \r \r\n\r\n"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ReadAhead, gives_the_body_of_a_refusal) {
  ReadAhead ahead(kSize);
  const std::string head = "HTTP/1.1 404 No\r\n\r\n";
  const std::string body = "\r\n\x82\x01\r\n\r\nabc";
  const std::string bytes = head + body;
  fill(ahead, as_bytes(bytes));
  EXPECT_EQ(take(ahead), head);
  EXPECT_EQ(take(ahead), body);
}

TEST(ReadAhead, has_space_after_all_was_taken) {
  ReadAhead ahead(10);
  ahead.begin_frames();
  for (int i = 0; i < 100; ++i) {
    fill(ahead, test::from_hex("82040102030482"));
    EXPECT_TRUE(ahead.take_message(kLimit));
    EXPECT_EQ(take(ahead), "") << "one byte of a head";
    fill(ahead, test::from_hex("0105"));
    EXPECT_EQ(take(ahead), "\x82\x01\x05");
    EXPECT_EQ(ahead.space().size(), 10U);
  }
}

}  // namespace
}  // namespace skua::transport::impl::read_ahead_test
