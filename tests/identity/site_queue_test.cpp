#include "identity/site_queue.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::identity {
namespace {

std::string of_site(const std::string& site, int number) {
  return "did:web:host" + std::to_string(number) + "." + site;
}

std::vector<std::string> take_all(SiteQueue& queue) {
  std::vector<std::string> taken;
  while (queue.has_next()) taken.push_back(queue.take());
  return taken;
}

TEST(SiteQueue, a_site_is_the_last_two_labels) {
  EXPECT_EQ(site_of("did:web:example.com"), "example.com");
  EXPECT_EQ(site_of("did:web:a.b.example.com"), "example.com");
  EXPECT_EQ(site_of("did:web:localhost%3A2583"), "localhost%3A2583");
  EXPECT_EQ(site_of("did:web:localhost"), "localhost");
}

TEST(SiteQueue, a_host_name_has_a_site) {
  EXPECT_EQ(site_of_host("a.b.example.com"), "example.com");
  EXPECT_EQ(site_of_host("example.com"), "example.com");
  EXPECT_EQ(site_of_host("localhost"), "localhost");
}

TEST(SiteQueue, a_site_that_does_not_answer_delays_its_own_accounts_only) {
  SiteQueue queue(8, 2);
  for (int i = 0; i < 100; ++i) queue.push(of_site("slow.test", i));
  EXPECT_EQ(take_all(queue).size(), 2U);
  queue.push("did:web:alice.example");
  queue.push("did:web:bob.example.org");
  EXPECT_EQ(take_all(queue),
            (std::vector<std::string>{"did:web:alice.example", "did:web:bob.example.org"}));
  queue.finished("did:web:alice.example");
  EXPECT_FALSE(queue.has_next());
  queue.finished(of_site("slow.test", 0));
  EXPECT_EQ(take_all(queue), std::vector<std::string>{of_site("slow.test", 2)});
}

TEST(SiteQueue, sites_take_turns) {
  SiteQueue queue(100, 100);
  for (int i = 0; i < 3; ++i) queue.push(of_site("a.test", i));
  for (int i = 0; i < 2; ++i) queue.push(of_site("b.test", i));
  EXPECT_EQ(take_all(queue), (std::vector<std::string>{of_site("a.test", 0), of_site("b.test", 0),
                                                       of_site("a.test", 1), of_site("b.test", 1),
                                                       of_site("a.test", 2)}));
}

TEST(SiteQueue, bounds_all_of_them) {
  SiteQueue queue(3, 2);
  for (int i = 0; i < 10; ++i) queue.push("did:web:site" + std::to_string(i) + ".test");
  EXPECT_EQ(take_all(queue).size(), 3U);
  EXPECT_EQ(queue.under_way(), 3U);
  queue.finished("did:web:site1.test");
  EXPECT_EQ(take_all(queue).size(), 1U);
}

TEST(SiteQueue, comes_to_its_end) {
  SiteQueue queue(5, 2);
  for (int i = 0; i < 1'000; ++i) queue.push(of_site(std::to_string(i % 7) + ".test", i));
  std::size_t done = 0;
  for (auto taken = take_all(queue); !taken.empty(); taken = take_all(queue)) {
    for (const auto& did : taken) queue.finished(did);
    done += taken.size();
  }
  EXPECT_EQ(done, 1'000U);
  EXPECT_EQ(queue.under_way(), 0U);
}

TEST(SiteQueue, refuses_to_finish_what_was_not_started) {
  SiteQueue queue(5, 2);
  EXPECT_THROW(queue.finished("did:web:example.com"), std::logic_error);
}

}  // namespace
}  // namespace skua::identity
