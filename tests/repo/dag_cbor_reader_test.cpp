#include <limits>

#include <gtest/gtest.h>

#include "repo/cbor_cases.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/errc.hpp"
#include "support/test_vectors.hpp"

namespace skua::repo::dag_cbor_reader_test {
namespace {

using atproto::Document;
using atproto::Kind;
using atproto::Value;
using test_cases::CborCase;

class OwnCbor : public testing::TestWithParam<CborCase> {};

TEST_P(OwnCbor, is_judged_rightly) {
  const CborCase& c = GetParam();
  Document document;
  const auto read = read_dag_cbor(c.bytes, document);
  if (c.error) {
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error(), *c.error) << read.error().message();
    EXPECT_TRUE(document.empty());
    return;
  }
  ASSERT_TRUE(read) << read.error().message();
  Bytes again;
  CborWriter(again).value(document.root());
  EXPECT_EQ(again, c.bytes);
}

INSTANTIATE_TEST_SUITE_P(Rules, OwnCbor, testing::ValuesIn(test_cases::own_cases()),
                         [](const auto& test) {
                           return skua::test::vector_name(test.index, test.param.name);
                         });

// {"a": [1, -2, true, null], "bb": {"c": "text", "d": h'0102'}}
const Bytes kSample = test::from_hex(
    "a261618401"
    "21"
    "f5f6"
    "626262a261636474657874616442"
    "0102");

TEST(ReadDagCbor, gives_the_tree) {
  Document document;
  ASSERT_TRUE(read_dag_cbor(kSample, document));
  const Value root = document.root();
  ASSERT_TRUE(root.is_map());
  ASSERT_EQ(root.size(), 2U);

  const auto list = root.find("a");
  ASSERT_TRUE(list && list->is_list());
  std::vector<Value> items;
  for (const Value item : list->items()) items.push_back(item);
  ASSERT_EQ(items.size(), 4U);
  EXPECT_EQ(items[0].integer(), 1);
  EXPECT_EQ(items[1].integer(), -2);
  EXPECT_TRUE(items[2].is_boolean() && items[2].boolean());
  EXPECT_TRUE(items[3].is_null());

  const auto inner = root.find("bb");
  ASSERT_TRUE(inner && inner->is_map());
  EXPECT_EQ(inner->find("c")->string(), "text");
  EXPECT_EQ(inner->find("d")->bytes().size(), 2U);
  EXPECT_EQ(inner->find("e"), std::nullopt);
  EXPECT_EQ(items[0].find("a"), std::nullopt);

  std::vector<std::string_view> keys;
  for (const auto entry : root.entries()) keys.push_back(entry.key);
  EXPECT_EQ(keys, (std::vector<std::string_view>{"a", "bb"}));
}

TEST(ReadDagCbor, copies_nothing) {
  Document document;
  ASSERT_TRUE(read_dag_cbor(kSample, document));
  const auto text = document.root().find("bb")->find("c")->string();
  const auto* begin = reinterpret_cast<const char*>(kSample.data());
  EXPECT_GE(text.data(), begin);
  EXPECT_LE(text.data() + text.size(), begin + kSample.size());
}

TEST(ReadDagCbor, reuses_a_document) {
  Document document;
  CborOptions floats;
  floats.allow_floats = true;
  ASSERT_TRUE(read_dag_cbor(test::from_hex("fb3ff8000000000000"), document, floats));
  EXPECT_TRUE(document.has_floats());
  ASSERT_TRUE(read_dag_cbor(kSample, document));
  EXPECT_FALSE(document.has_floats());
  ASSERT_FALSE(read_dag_cbor(test::from_hex("a1"), document));
  EXPECT_TRUE(document.empty());
}

TEST(ReadDagCbor, takes_finite_floats_when_told) {
  CborOptions floats;
  floats.allow_floats = true;
  Document document;
  const Bytes half = test::from_hex("fb3fe0000000000000");
  ASSERT_TRUE(read_dag_cbor(half, document, floats));
  EXPECT_EQ(document.root().kind(), Kind::floating);
  EXPECT_EQ(document.root().floating(), 0.5);
  for (const char* bad :
       {"fb7ff8000000000000", "fb7ff0000000000000", "fbfff0000000000000", "fa47c35000", "f93e00"}) {
    const auto read = read_dag_cbor(test::from_hex(bad), document, floats);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error(), errc::cbor_float);
  }
}

/// What a writer that knows nothing of DAG-CBOR's one form may have made, and that form.
struct OtherForm {
  const char* name;
  const char* bytes;
  const char* canonical;
};

class InAnyForm : public testing::TestWithParam<OtherForm> {};

TEST_P(InAnyForm, is_read_and_written_in_the_one_form) {
  const Bytes bytes = test::from_hex(GetParam().bytes);
  Document document;
  ASSERT_TRUE(read_dag_cbor(bytes, document, kAnyForm));
  EXPECT_FALSE(document.is_canonical());
  Bytes written;
  CborWriter(written).value(document.root());
  EXPECT_EQ(written, test::from_hex(GetParam().canonical));
  ASSERT_TRUE(read_dag_cbor(written, document, kAnyForm));
  EXPECT_TRUE(document.is_canonical());
}

INSTANTIATE_TEST_SUITE_P(
    Forms, InAnyForm,
    testing::Values(OtherForm{"keys_by_bytes", "a262616101616202", "a261620262616101"},
                    OtherForm{"keys_in_reverse", "a2616201616102", "a2616102616201"},
                    OtherForm{"keys_in_reverse_within", "81a2616201616102", "81a2616102616201"},
                    OtherForm{"integer_in_eight_bytes", "1b0000000000000001", "01"},
                    OtherForm{"negative_in_one_byte", "3801", "21"},
                    OtherForm{"text_length_in_one_byte", "780161", "6161"},
                    OtherForm{"bytes_length_in_two_bytes", "59000161", "4161"},
                    OtherForm{"list_length_in_one_byte", "980100", "8100"},
                    OtherForm{"map_length_in_one_byte", "b801616100", "a1616100"},
                    OtherForm{"key_length_in_one_byte", "a178016100", "a1616100"},
                    OtherForm{"half_float", "f93e00", "fb3ff8000000000000"},
                    OtherForm{"single_float", "fa3fc00000", "fb3ff8000000000000"}),
    [](const auto& test) { return test.param.name; });

TEST(ReadDagCbor, any_form_does_not_take_what_the_data_model_cannot_express) {
  for (const CborCase& c : test_cases::own_cases()) {
    const bool is_of_form = c.error == errc::cbor_not_shortest || c.error == errc::cbor_key_order ||
                            c.error == errc::cbor_float;
    if (!c.error || is_of_form) continue;
    Document document;
    const auto read = read_dag_cbor(c.bytes, document, kAnyForm);
    ASSERT_FALSE(read) << c.name;
    EXPECT_EQ(read.error(), *c.error) << c.name;
  }
  // A key that stands twice, in order and out of order.
  for (const char* doubled : {"a2616101616102", "a36161016162026161f6", "a26161a1616200616102",
                              "a1616183a26162016162020102"}) {
    Document document;
    const auto read = read_dag_cbor(test::from_hex(doubled), document, kAnyForm);
    ASSERT_FALSE(read) << doubled;
    EXPECT_EQ(read.error(), errc::cbor_key_order);
    EXPECT_TRUE(document.empty());
  }
}

TEST(ReadDagCbor, depth_is_an_option) {
  CborOptions shallow;
  shallow.max_depth = 1;
  Document document;
  EXPECT_TRUE(read_dag_cbor(test::from_hex("8101"), document, shallow));
  EXPECT_EQ(read_dag_cbor(test::from_hex("818101"), document, shallow).error(),
            errc::cbor_too_deep);
  CborOptions deep;
  deep.max_depth = 1000;
  Bytes nested(1000, 0x81);
  nested.back() = 0x80;
  EXPECT_TRUE(read_dag_cbor(nested, document, deep));
}

TEST(ReadDagCborPrefix, says_how_much_it_took) {
  Bytes two = kSample;
  two.push_back(0x18);
  two.push_back(0x64);
  Document document;
  const auto first = read_dag_cbor_prefix(two, document);
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, kSample.size());
  const auto second = read_dag_cbor_prefix(ByteView(two).subspan(*first), document);
  ASSERT_TRUE(second);
  EXPECT_EQ(*second, 2U);
  EXPECT_EQ(document.root().integer(), 100);
}

TEST(ReadDagCbor, every_cut_is_truncated) {
  Document document;
  for (std::size_t length = 0; length < kSample.size(); ++length) {
    const Bytes cut(kSample.begin(), kSample.begin() + static_cast<std::ptrdiff_t>(length));
    const auto read = read_dag_cbor(cut, document);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error(), errc::cbor_truncated) << length;
  }
}

// Whatever a changed byte makes of it: either it is refused, or it reads as a value whose encoding
// is exactly the input. Nothing else would keep hashes meaningful.
TEST(ReadDagCbor, every_changed_byte_is_refused_or_round_trips) {
  Document document;
  CborOptions floats;
  floats.allow_floats = true;
  for (std::size_t at = 0; at < kSample.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      Bytes changed = kSample;
      changed[at] = static_cast<std::uint8_t>(value);
      if (!read_dag_cbor(changed, document, floats)) continue;
      Bytes again;
      CborWriter(again).value(document.root());
      ASSERT_EQ(again, changed) << at << ' ' << value;
    }
  }
}

}  // namespace
}  // namespace skua::repo::dag_cbor_reader_test
