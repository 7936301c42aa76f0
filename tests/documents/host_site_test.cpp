#include <gtest/gtest.h>

#include "documents/host_status.hpp"

namespace skua::documents::host_site_test {
namespace {

TEST(HostSite, is_the_last_two_labels_of_a_name) {
  EXPECT_EQ(site_of_origin("https://pds.example.com"), "example.com");
  EXPECT_EQ(site_of_origin("https://a.b.example.com:8443"), "example.com");
  EXPECT_EQ(site_of_origin("https://example.com"), "example.com");
}

TEST(HostSite, of_what_has_no_domain_is_itself) {
  EXPECT_EQ(site_of_origin("http://localhost:2583"), "localhost:2583");
  EXPECT_EQ(site_of_origin("http://127.0.0.1:2583"), "127.0.0.1:2583");
  EXPECT_EQ(site_of_origin("http://[::1]:2583"), "[::1]:2583");
}

TEST(HostSite, a_did_web_and_a_host_name_have_one) {
  EXPECT_EQ(site_of("did:web:example.com"), "example.com");
  EXPECT_EQ(site_of("did:web:a.b.example.com"), "example.com");
  EXPECT_EQ(site_of("did:web:localhost%3A2583"), "localhost%3A2583");
  EXPECT_EQ(site_of("did:web:localhost"), "localhost");
  EXPECT_EQ(site_of_host("a.b.example.com"), "example.com");
  EXPECT_EQ(site_of_host("example.com"), "example.com");
  EXPECT_EQ(site_of_host("localhost"), "localhost");
}

}  // namespace
}  // namespace skua::documents::host_site_test
