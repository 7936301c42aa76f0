#include "event/json_transcoder.hpp"

#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "event/errc.hpp"
#include "repo/dag_cbor.hpp"

namespace skua::event::json_transcoder_test {
namespace {

using nlohmann::json;

Result<Bytes> transcode(std::string_view text) {
  Bytes out;
  if (const auto written = JsonTranscoder().append(text, out); !written) return written.error();
  return out;
}

struct Written {
  std::string name;
  std::string text;
  Bytes cbor;
};

class JsonForm : public testing::TestWithParam<Written> {};
INSTANTIATE_TEST_SUITE_P(
    Values, JsonForm,
    testing::Values(
        Written{"blanks", " \t\r\n[ 1 , { \"a\" : 2 } ] ", {0x82, 0x01, 0xa1, 0x61, 'a', 0x02}},
        Written{"empty_containers", R"({"a":[],"b":{}})", {0xa2, 0x61, 'a', 0x80, 0x61, 'b', 0xa0}},
        Written{"literals", "[true,false,null]", {0x83, 0xf5, 0xf4, 0xf6}},
        Written{"numbers", "[0,-0,-1,24]", {0x84, 0x00, 0x00, 0x20, 0x18, 24}},
        Written{
            "keys_out_of_order",
            R"({"bb":1,"c":{"z":1,"y":2},"a":3})",
            {0xa3, 0x61, 'a', 3, 0x61, 'c', 0xa2, 0x61, 'y', 2, 0x61, 'z', 1, 0x62, 'b', 'b', 1}},
        Written{"escapes",
                R"("\"\\\/\b\f\n\r\t\u0000")",
                {0x69, '"', '\\', '/', '\b', '\f', '\n', '\r', '\t', 0}},
        Written{"unicode_escapes",
                R"("\u00e9\u20AC\ud83d\ude00")",
                {0x69, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80}},
        Written{"a_key_with_escapes", R"({"\u0061":1})", {0xa1, 0x61, 'a', 1}}),
    [](const auto& test) { return test.param.name; });

TEST_P(JsonForm, has_its_bytes) {
  const auto cbor = transcode(GetParam().text);
  ASSERT_TRUE(cbor) << cbor.error().message();
  EXPECT_EQ(*cbor, GetParam().cbor);
}

class NoJson : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    Texts, NoJson,
    testing::Values("", " ", "{", "}", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"}",
                    "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}", "{1:1}", "tru", "nul",
                    "NaN", "Infinity", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "0x1",
                    "1 1", "{} x", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"",
                    "\"\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"a\nb\"",
                    "\"aaaaaaaaa\x01\"", "\"\\", "\xef\xbb\xbf{}"));

TEST_P(NoJson, is_refused) {
  for (std::string text : {"", "["}) {
    text += GetParam();
    const auto cbor = transcode(text);
    ASSERT_FALSE(cbor) << text;
    EXPECT_EQ(cbor.error(), make_error_code(errc::json_malformed)) << text;
  }
}

struct Refused {
  std::string name;
  std::string text;
  errc error;
};

class HostileJson : public testing::TestWithParam<Refused> {};
INSTANTIATE_TEST_SUITE_P(
    Values, HostileJson,
    testing::Values(
        Refused{"a_key_twice", R"({"a":1,"a":1})", errc::json_duplicate_key},
        Refused{"a_key_twice_apart", R"({"b":1,"a":1,"b":2})", errc::json_duplicate_key},
        Refused{"a_key_twice_by_escape", R"({"a":1,"\u0061":2})", errc::json_duplicate_key},
        Refused{"a_link_behind_others", R"({"a":1,"$link":"x"})", errc::json_bad_link},
        Refused{"bytes_behind_others", R"({"a":1,"$bytes":"AA"})", errc::json_bad_bytes},
        Refused{"integer_beyond_64_bits", "-9223372036854775809", errc::json_integer_range},
        Refused{"integer_of_many_digits", std::string(5000, '9'), errc::json_integer_range},
        Refused{"float_beyond_range", "1e400", errc::json_integer_range},
        Refused{"deep_lists", std::string(100'000, '['), errc::json_too_deep},
        Refused{"deep_maps",
                [] {
                  std::string text;
                  for (int i = 0; i < 50'000; ++i) text += R"({"a":)";
                  return text;
                }(),
                errc::json_too_deep}),
    [](const auto& test) { return test.param.name; });

TEST_P(HostileJson, is_refused) {
  const auto cbor = transcode(GetParam().text);
  ASSERT_FALSE(cbor);
  EXPECT_EQ(cbor.error(), make_error_code(GetParam().error));
}

TEST(JsonTranscoderTest, keeps_what_stands_before_it) {
  Bytes out = {7};
  ASSERT_TRUE(JsonTranscoder().append(R"({"b":1,"a":2})", out));
  EXPECT_EQ(out, (Bytes{7, 0xa2, 0x61, 'a', 2, 0x61, 'b', 1}));
}

TEST(JsonTranscoderTest, goes_on_after_an_error) {
  JsonTranscoder transcoder;
  Bytes out;
  EXPECT_FALSE(transcoder.append(R"({"a":{"b":[1,{"c":)", out));
  out.clear();
  ASSERT_TRUE(transcoder.append(R"({"b":1,"a":2})", out));
  EXPECT_EQ(out, (Bytes{0xa2, 0x61, 'a', 2, 0x61, 'b', 1}));
}

/// Heads of one, two and three bytes, in containers that are put in order.
TEST(JsonTranscoderTest, large_containers_are_read) {
  for (const int size : {23, 24, 255, 256, 70'000}) {
    json whole = {{"z", json::object()}, {"list", json::array()}};
    for (int i = 0; i < size; ++i) {
      whole["z"][std::to_string(i)] = i;
      whole["list"].push_back(std::to_string(i));
    }
    const auto cbor = transcode(whole.dump());
    ASSERT_TRUE(cbor);
    atproto::Document document;
    ASSERT_TRUE(repo::read_dag_cbor(*cbor, document));
    const auto map = document.root().find("z");
    ASSERT_EQ(map->size(), static_cast<std::size_t>(size));
    EXPECT_EQ(map->find(std::to_string(size - 1))->integer(), size - 1);
    EXPECT_EQ(document.root().find("list")->size(), static_cast<std::size_t>(size));
  }
}

/// Another parser must agree on what is JSON, however a text is damaged; and what comes of it is
/// DAG-CBOR wherever its texts are UTF-8.
TEST(JsonTranscoderTest, agrees_with_another_parser_however_a_text_is_damaged) {
  const std::string whole =
      R"({"$type":"a.b.c","text":"\u00e9\n\ud83d\ude00 \"x\"","list":[1,-2,3.5,1e3,true,null,[],{}],)"
      R"("z":{"bb":{"$bytes":"AQI="},"a":{"deep":[[["x"]]]}},"k":12345678901})";
  ASSERT_TRUE(json::accept(whole));
  std::mt19937 random(7);
  int usable = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text = whole;
    const int damages = 1 + static_cast<int>(random() % 2);
    for (int d = 0; d < damages; ++d) {
      text[random() % text.size()] = static_cast<char>(
          random() % 2 == 0 ? static_cast<char>(random()) : whole[random() % whole.size()]);
    }
    if (random() % 4 == 0) text.resize(random() % text.size());
    const auto cbor = transcode(text);
    if (!cbor) {
      const bool is_no_json = cbor.error() == make_error_code(errc::json_malformed);
      EXPECT_FALSE(is_no_json && json::accept(text)) << text;
      continue;
    }
    atproto::Document document;
    const bool reads = repo::read_dag_cbor(*cbor, document, {.allow_floats = true}).has_value();
    EXPECT_EQ(reads, json::accept(text)) << text;
    usable += reads ? 1 : 0;
  }
  EXPECT_GT(usable, 3'000);
}

}  // namespace
}  // namespace skua::event::json_transcoder_test
