#include <string>

#include <gtest/gtest.h>

#include "atproto/syntax.hpp"
#include "support/test_vectors.hpp"

namespace skua::atproto::uri_test {
namespace {

using test::LineVector;
using test::NameOfLine;
using test::own_lines;
using test::shared_lines;

class ValidUri : public testing::TestWithParam<LineVector> {};

TEST_P(ValidUri, is_taken) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_TRUE(is_uri(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(Interop, ValidUri,
                         testing::ValuesIn(shared_lines("interop/syntax/uri_syntax_valid.txt")),
                         NameOfLine());
INSTANTIATE_TEST_SUITE_P(Own, ValidUri,
                         testing::ValuesIn(own_lines({
                             "https://a.example",
                             "https://a.example/p?q=1#f",
                             "at://did:web:a.example/b.c.d/e",
                             "mailto:a@b.example",
                             "go://?x",
                             "a-b.c+d:e",
                             "a:" + std::string(8190, 'x'),
                         })),
                         NameOfLine());

class InvalidUri : public testing::TestWithParam<LineVector> {};

TEST_P(InvalidUri, is_refused) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_FALSE(is_uri(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(Interop, InvalidUri,
                         testing::ValuesIn(shared_lines("interop/syntax/uri_syntax_invalid.txt")),
                         NameOfLine());
INSTANTIATE_TEST_SUITE_P(Own, InvalidUri,
                         testing::ValuesIn(own_lines({
                             "",
                             ":",
                             "a:",
                             "a://",
                             "a.example",
                             "://a.example",
                             "1a:b",
                             "//a.example",
                             "https://a.example/a b",
                             "https://a.example\n",
                             "https:///a",
                             "a:" + std::string(8191, 'x'),
                         })),
                         NameOfLine());

}  // namespace
}  // namespace skua::atproto::uri_test
