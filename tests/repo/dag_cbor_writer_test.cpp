#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "repo/dag_cbor.hpp"
#include "support/test_vectors.hpp"

namespace skua::repo::dag_cbor_writer_test {
namespace {

template <class F>
std::string written(F&& write) {
  Bytes out;
  CborWriter writer(out);
  write(writer);
  return test::to_hex(out);
}

TEST(CborWriter, writes_shortest_forms) {
  const auto integer = [](std::int64_t value) {
    return written([value](CborWriter& w) { w.integer(value); });
  };
  EXPECT_EQ(integer(0), "00");
  EXPECT_EQ(integer(23), "17");
  EXPECT_EQ(integer(24), "1818");
  EXPECT_EQ(integer(255), "18ff");
  EXPECT_EQ(integer(256), "190100");
  EXPECT_EQ(integer(65535), "19ffff");
  EXPECT_EQ(integer(65536), "1a00010000");
  EXPECT_EQ(integer(4294967295), "1affffffff");
  EXPECT_EQ(integer(4294967296), "1b0000000100000000");
  EXPECT_EQ(integer(-1), "20");
  EXPECT_EQ(integer(-25), "3818");
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::max()), "1b7fffffffffffffff");
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::min()), "3b7fffffffffffffff");
}

TEST(CborWriter, writes_each_kind) {
  EXPECT_EQ(written([](CborWriter& w) { w.null(); }), "f6");
  EXPECT_EQ(written([](CborWriter& w) { w.boolean(false); }), "f4");
  EXPECT_EQ(written([](CborWriter& w) { w.boolean(true); }), "f5");
  EXPECT_EQ(written([](CborWriter& w) { w.floating(1.1); }), "fb3ff199999999999a");
  EXPECT_EQ(written([](CborWriter& w) { w.string("IETF"); }), "6449455446");
  EXPECT_EQ(written([](CborWriter& w) { w.bytes(Bytes{1, 2, 3, 4}); }), "4401020304");
  EXPECT_EQ(written([](CborWriter& w) { w.list(2); }), "82");
  EXPECT_EQ(written([](CborWriter& w) { w.map(30); }), "b81e");
  const atproto::Cid cid = atproto::Cid::of({});
  const auto binary = cid.to_bytes();
  EXPECT_EQ(written([&](CborWriter& w) { w.link(cid); }),
            "d82a582500" + test::to_hex({binary.begin(), binary.end()}));
}

TEST(CborKeyLess, orders_by_length_then_bytes) {
  EXPECT_TRUE(cbor_key_less("b", "aa"));
  EXPECT_TRUE(cbor_key_less("aa", "ab"));
  EXPECT_TRUE(cbor_key_less("", "a"));
  EXPECT_TRUE(cbor_key_less("z", "\xc3\xa9"));
  EXPECT_TRUE(cbor_key_less("aa", "\xc3\xa9"));  // bytes above 7f come last
  EXPECT_FALSE(cbor_key_less("a", "a"));
}

/// Writes a random value of the data model.
class RandomValue {
 public:
  explicit RandomValue(std::uint32_t seed) : random_(seed) {}

  void write(CborWriter& writer, int depth) {
    switch (random_() % (depth > 0 ? 8U : 6U)) {
      case 0:
        return writer.null();
      case 1:
        return writer.boolean(random_() % 2 == 0);
      case 2:
        return writer.integer(static_cast<std::int64_t>(random_()) >> (random_() % 64));
      case 3:
        return writer.string(text());
      case 4:
        return writer.bytes(as_bytes(text()));
      case 5:
        return writer.link(atproto::Cid::of(as_bytes(text()), random_() % 2 == 0 ? 0x71 : 0x55));
      case 6: {
        const auto items = random_() % 30;
        writer.list(items);
        for (std::size_t i = 0; i < items; ++i) write(writer, depth - 1);
        return;
      }
      default: {
        struct KeyLess {
          bool operator()(const std::string& a, const std::string& b) const {
            return cbor_key_less(a, b);
          }
        };
        std::map<std::string, int, KeyLess> keys;
        for (auto n = random_() % 30; n > 0; --n) keys.emplace(text(), 0);
        writer.map(keys.size());
        for (const auto& [key, unused] : keys) {
          writer.string(key);
          write(writer, depth - 1);
        }
      }
    }
  }

 private:
  std::string text() {
    static const std::array<std::string, 5> pieces = {"a", "Z9", "\xc3\xa9", "\xe6\xb0\xb4",
                                                      "\xf0\x9f\x90\xa6"};
    std::string result;
    for (auto n = random_() % 12; n > 0; --n) result += pieces[random_() % pieces.size()];
    if (random_() % 20 == 0) result.append(300, 'x');
    return result;
  }

  std::mt19937_64 random_;
};

TEST(CborWriter, random_values_are_read_back_and_written_alike) {
  atproto::Document document;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Bytes bytes;
    CborWriter writer(bytes);
    RandomValue(seed).write(writer, 3);
    const auto read = read_dag_cbor(bytes, document);
    ASSERT_TRUE(read) << seed << ": " << read.error().message();
    Bytes again;
    CborWriter(again).value(document.root());
    ASSERT_EQ(again, bytes) << seed;
  }
}

}  // namespace
}  // namespace skua::repo::dag_cbor_writer_test
