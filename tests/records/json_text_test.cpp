#include "records/json_text.hpp"

#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "event/json_event.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::records::json_text_test {
namespace {

using nlohmann::json;

std::string quoted(std::string_view text, Nul nul = Nul::Drop) {
  std::string out;
  append_json_string(out, text, nul);
  return out;
}

std::string rendered(const Bytes& cbor, Nul nul = Nul::Drop) {
  atproto::Document document;
  repo::CborOptions options;
  options.allow_floats = true;
  const auto read = repo::read_dag_cbor(cbor, document, options);
  EXPECT_TRUE(read) << read.error().message();
  std::string out;
  if (read) append_json(out, document.root(), nul);
  return out;
}

TEST(JsonTextTest, escapes_what_must_be) {
  EXPECT_EQ(quoted("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(quoted("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(quoted("\x01\x1f\x7f"), "\"\\u0001\\u001f\x7f\"");
  EXPECT_EQ(quoted("日本 😀"), "\"日本 😀\"");
  EXPECT_EQ(quoted(""), R"("")");
}

TEST(JsonTextTest, drops_or_escapes_nul) {
  const std::string_view text("\0a\0", 3);
  std::string out;
  EXPECT_EQ(append_json_string(out, text, Nul::Drop), 2U);
  EXPECT_EQ(out, R"("a")");
  EXPECT_EQ(quoted(text, Nul::Escape), R"("\u0000a\u0000")");
}

TEST(JsonTextTest, renders_every_kind) {
  Bytes cbor;
  repo::CborWriter writer(cbor);
  const auto cid = atproto::Cid::of(cbor);
  writer.list(10);
  writer.null();
  writer.boolean(true);
  writer.boolean(false);
  writer.integer(-9223372036854775807 - 1);
  writer.floating(0.5);
  writer.floating(3);
  writer.bytes(Bytes{0xff, 0xee});
  writer.link(cid);
  writer.list(0);
  writer.map(0);
  EXPECT_EQ(rendered(cbor),
            R"([null,true,false,-9223372036854775808,0.5,3.0,{"$bytes":"/+4"},{"$link":")" +
                cid.to_string() + R"("},[],{}])");
}

TEST(JsonTextTest, bytes_have_no_padding) {
  const std::vector<std::pair<Bytes, std::string>> cases = {{{}, ""},
                                                            {{'f'}, "Zg"},
                                                            {{'f', 'o'}, "Zm8"},
                                                            {{'f', 'o', 'o'}, "Zm9v"},
                                                            {{'f', 'o', 'o', 'b'}, "Zm9vYg"}};
  for (const auto& [bytes, text] : cases) {
    Bytes cbor;
    repo::CborWriter(cbor).bytes(bytes);
    EXPECT_EQ(rendered(cbor), R"({"$bytes":")" + text + R"("})");
  }
}

/// A value of the data model as JSON, at most `depth` deep.
json random_value(std::mt19937& random, int depth) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  switch (below(depth > 0 ? 8 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return below(2) == 0;
    case 2:
      return static_cast<std::int64_t>((static_cast<std::uint64_t>(random()) << 32 | random()) >>
                                       below(64)) *
             (below(2) == 0 ? 1 : -1);
    case 3: {
      static const std::vector<std::string> kPieces = {"a",  "\"", "\\",   "\n", "é",
                                                       "日", "😀",  "\x01", "$"};
      std::string text;
      for (int i = below(12); i > 0; --i) text += kPieces[static_cast<std::size_t>(below(9))];
      return text;
    }
    case 4:
      return {{"$bytes", std::string(static_cast<std::size_t>(below(4)) * 4, 'Q')}};
    case 5: {
      json list = json::array();
      for (int i = below(5); i > 0; --i) list.push_back(random_value(random, depth - 1));
      return list;
    }
    default: {
      json map = json::object();
      for (int i = below(6); i > 0; --i) {
        map[std::string(static_cast<std::size_t>(below(30)), 'k') + std::to_string(below(100))] =
            random_value(random, depth - 1);
      }
      return map;
    }
  }
}

TEST(JsonTextTest, json_comes_back_from_dag_cbor) {
  std::mt19937 random(20260704);
  for (int i = 0; i < 500; ++i) {
    const json value = random_value(random, 5);
    const auto cbor = event::json_to_dag_cbor(value);
    ASSERT_TRUE(cbor) << value.dump();
    EXPECT_EQ(json::parse(rendered(*cbor)), value);
  }
}

}  // namespace
}  // namespace skua::records::json_text_test
