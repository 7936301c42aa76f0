#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "transport/errc.hpp"
#include "transport/impl/refusal.hpp"

namespace skua::transport::impl::redirect_test {
namespace {

/// A Location header in an answer to a request of `kBase`, and the URL that it means.
struct Example {
  std::string location;
  std::string url;
};

void PrintTo(const Example& example, std::ostream* out) {
  *out << '\'' << example.location << '\'';
}

const std::string kBase = "http://a/b/c/d;p?q";

class RedirectExample : public testing::TestWithParam<Example> {};

TEST_P(RedirectExample, is_resolved_against_the_url_of_the_request) {
  const auto target = redirect_target(*parse_http_url(kBase), GetParam().location);
  ASSERT_TRUE(target) << target.error().message();
  EXPECT_EQ(target->http_url(), GetParam().url);
}

// Without their fragments, which are never sent, and with the path `/` where there is none.
INSTANTIATE_TEST_SUITE_P(
    NormalOfRfc3986, RedirectExample,
    testing::Values(Example{"g", "http://a/b/c/g"}, Example{"./g", "http://a/b/c/g"},
                    Example{"g/", "http://a/b/c/g/"}, Example{"/g", "http://a/g"},
                    Example{"//g", "http://g/"}, Example{"?y", "http://a/b/c/d;p?y"},
                    Example{"g?y", "http://a/b/c/g?y"}, Example{"#s", "http://a/b/c/d;p?q"},
                    Example{"g#s", "http://a/b/c/g"}, Example{"g?y#s", "http://a/b/c/g?y"},
                    Example{";x", "http://a/b/c/;x"}, Example{"g;x", "http://a/b/c/g;x"},
                    Example{"g;x?y#s", "http://a/b/c/g;x?y"}, Example{"", "http://a/b/c/d;p?q"},
                    Example{".", "http://a/b/c/"}, Example{"./", "http://a/b/c/"},
                    Example{"..", "http://a/b/"}, Example{"../", "http://a/b/"},
                    Example{"../g", "http://a/b/g"}, Example{"../..", "http://a/"},
                    Example{"../../", "http://a/"}, Example{"../../g", "http://a/g"}));

INSTANTIATE_TEST_SUITE_P(
    AbnormalOfRfc3986, RedirectExample,
    testing::Values(Example{"../../../g", "http://a/g"}, Example{"../../../../g", "http://a/g"},
                    Example{"/./g", "http://a/g"}, Example{"/../g", "http://a/g"},
                    Example{"g.", "http://a/b/c/g."}, Example{".g", "http://a/b/c/.g"},
                    Example{"g..", "http://a/b/c/g.."}, Example{"..g", "http://a/b/c/..g"},
                    Example{"./../g", "http://a/b/g"}, Example{"./g/.", "http://a/b/c/g/"},
                    Example{"g/./h", "http://a/b/c/g/h"}, Example{"g/../h", "http://a/b/c/h"},
                    Example{"g;x=1/./y", "http://a/b/c/g;x=1/y"},
                    Example{"g;x=1/../y", "http://a/b/c/y"},
                    Example{"g?y/./x", "http://a/b/c/g?y/./x"},
                    Example{"g?y/../x", "http://a/b/c/g?y/../x"},
                    Example{"g#s/./x", "http://a/b/c/g"}, Example{"g#s/../x", "http://a/b/c/g"}));

INSTANTIATE_TEST_SUITE_P(
    Absolute, RedirectExample,
    testing::Values(Example{"https://B.example:8443/x/../y?z#s", "https://b.example:8443/y?z"},
                    Example{"//b.example/.", "http://b.example/"},
                    Example{"/a//../b", "http://a/a/b"}, Example{"./g:h", "http://a/b/c/g:h"}));

TEST(RedirectTarget, keeps_the_scheme_and_the_port) {
  const auto base = parse_http_url("https://[::1]:8080/a");
  EXPECT_EQ(redirect_target(*base, "b")->http_url(), "https://[::1]:8080/b");
  EXPECT_EQ(redirect_target(*base, "//c/d")->http_url(), "https://c/d");
}

TEST(RedirectTarget, must_be_a_url_of_http) {
  const auto base = parse_http_url(kBase);
  EXPECT_EQ(redirect_target(*base, "g:h").error(), errc::url_http_scheme);
  EXPECT_EQ(redirect_target(*base, "http:g").error(), errc::url_http_scheme);
  EXPECT_EQ(redirect_target(*base, "http://").error(), errc::url_host);
  EXPECT_EQ(redirect_target(*base, "//").error(), errc::url_host);
  EXPECT_EQ(redirect_target(*base, "a b").error(), errc::url_path);
}

}  // namespace
}  // namespace skua::transport::impl::redirect_test
