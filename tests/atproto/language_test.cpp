#include <string>

#include <gtest/gtest.h>

#include "atproto/syntax.hpp"
#include "support/test_vectors.hpp"

namespace skua::atproto::language_test {
namespace {

using test::LineVector;
using test::NameOfLine;
using test::own_lines;
using test::shared_lines;

class LanguageTag : public testing::TestWithParam<LineVector> {};

TEST_P(LanguageTag, is_well_formed) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_TRUE(is_language_tag(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Interop, LanguageTag,
    testing::ValuesIn(shared_lines("interop/syntax/language_syntax_valid.txt")), NameOfLine());
// These break a rule beyond the grammar: a variant or a singleton is repeated.
INSTANTIATE_TEST_SUITE_P(
    InteropRepeated, LanguageTag,
    testing::ValuesIn(shared_lines("interop/syntax/language_parse_invalid.txt")), NameOfLine());
INSTANTIATE_TEST_SUITE_P(Own, LanguageTag,
                         testing::ValuesIn(own_lines({
                             "de",
                             "cy",
                             "yue",
                             "en-US",
                             "en-us",
                             "zh-cmn-Hans-CN",
                             "zh-yue-abc-def",
                             "sr-Latn-RS",
                             "ca-valencia",
                             "de-1996",
                             "de-a-bcd-x-y",
                             "x-a",
                             "i-klingon",
                             "sgn-BE-FR",
                             "klingonx",
                         })),
                         NameOfLine());

class NoLanguageTag : public testing::TestWithParam<LineVector> {};

TEST_P(NoLanguageTag, is_refused) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_FALSE(is_language_tag(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Interop, NoLanguageTag,
    testing::ValuesIn(shared_lines("interop/syntax/language_syntax_invalid.txt")), NameOfLine());
INSTANTIATE_TEST_SUITE_P(Own, NoLanguageTag,
                         testing::ValuesIn(own_lines({
                             "",
                             "-",
                             "x",
                             "x-",
                             "EN",
                             "En-US",
                             "en_US",
                             "en--US",
                             "-en",
                             "en-",
                             "en US",
                             "en-US-GB",
                             "de-419-DE",
                             "de-a",
                             "de-a-b",
                             "de-x",
                             "de-x-",
                             "de-x-abcdefghi",
                             "english language",
                             "languagetag",
                             "日本語",
                             "i-unknown",
                         })),
                         NameOfLine());

}  // namespace
}  // namespace skua::atproto::language_test
