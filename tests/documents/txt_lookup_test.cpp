#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "documents/dns_server.hpp"
#include "documents/errc.hpp"
#include "documents/handle_check.hpp"

namespace skua::documents::txt_lookup_test {
namespace {

using namespace std::chrono_literals;
using Message = test::DnsServer::Message;
using Texts = std::vector<std::string>;

const std::string kName = "_atproto.alice.test";
const test::DnsServer::Zone kZone = {{kName, {{"did=did:web:alice.test"}}},
                                     {"_atproto.failing.test", {}}};
/// No test waits for this long: what answers, answers at once.
constexpr DnsTimeouts kSlow{30s, 2, 60s};
/// Of servers that do not answer.
constexpr DnsTimeouts kShort{20ms, 2, 10s};

Result<Texts> ask(const test::DnsServer& server, const std::string& name = kName,
                  const DnsTimeouts& timeouts = kSlow) {
  return dns_txt_lookup({"127.0.0.1", server.port()}, timeouts)(name);
}

TEST(TxtLookup, gives_every_text_and_joins_its_parts) {
  const std::string nul("a\0b", 3);
  const test::DnsServer server({{kName, {{"one"}, {"two", "", " and ", "three"}, {""}, {nul}}}});
  const auto texts = ask(server);
  ASSERT_TRUE(texts) << texts.error().message();
  EXPECT_EQ(*texts, (Texts{"one", "two and three", "", nul}));
  EXPECT_EQ(server.questions(), 1);
}

TEST(TxtLookup, tells_no_such_record_from_a_server_that_fails) {
  const test::DnsServer server(kZone);
  const auto none = ask(server, "_atproto.nobody.test");
  ASSERT_TRUE(none) << none.error().message();
  EXPECT_EQ(*none, Texts());
  EXPECT_EQ(server.questions(), 1);  // that is an answer: nothing to try again
  const auto failed = ask(server, "_atproto.failing.test");
  EXPECT_EQ(failed.error(), errc::dns_failed);
  EXPECT_TRUE(is_server_failure(failed.error()));
  EXPECT_EQ(server.questions(), 3);
}

TEST(TxtLookup, a_name_of_other_records_has_no_texts) {
  const test::DnsServer empty(kZone, [](int, Message answer) {
    answer.resize(answer.size() - 12 - 23);
    answer[7] = 0;  // exists, without answers
    return answer;
  });
  ASSERT_TRUE(ask(empty));
  EXPECT_EQ(*ask(empty), Texts());
  const test::DnsServer other(kZone, [](int, Message answer) {
    answer[answer.size() - 23 - 9] = 99;  // some type of record
    return answer;
  });
  ASSERT_TRUE(ask(other));
  EXPECT_EQ(*ask(other), Texts());
}

TEST(TxtLookup, reads_the_texts_of_the_name_that_an_alias_leads_to) {
  const test::DnsServer server(kZone, [](int, Message answer) {
    const std::size_t question = 12 + kName.size() + 2 + 4;
    // kName is an alias of a.test, to which the record belongs.
    const Message alias = {0xc0, 12, 0, 5,   0, 1,   0,   0,   0,   60,
                           0,    8,  1, 'a', 4, 't', 'e', 's', 't', 0};
    answer.insert(answer.begin() + static_cast<std::ptrdiff_t>(question), alias.begin(),
                  alias.end());
    answer[question + alias.size() + 1] = static_cast<unsigned char>(question + 12);
    answer[7] = 2;
    return answer;
  });
  const auto texts = ask(server);
  ASSERT_TRUE(texts) << texts.error().message();
  EXPECT_EQ(*texts, Texts{"did=did:web:alice.test"});
}

TEST(TxtLookup, asks_again_what_fails_once) {
  const test::DnsServer failing(kZone, [](int number, Message answer) {
    if (number == 1) answer[3] = 2;
    return answer;
  });
  EXPECT_TRUE(ask(failing));
  EXPECT_EQ(failing.questions(), 2);
  const test::DnsServer silent(
      kZone, [](int number, Message answer) { return number == 1 ? Message() : answer; });
  const auto texts = ask(silent, kName, {50ms, 5, 60s});
  ASSERT_TRUE(texts) << texts.error().message();
  EXPECT_EQ(texts->size(), 1U);
}

TEST(TxtLookup, gives_up_on_silence) {
  const test::DnsServer silent(kZone, [](int, Message) { return Message(); });
  EXPECT_EQ(ask(silent, kName, kShort).error(), errc::dns_failed);
  EXPECT_EQ(silent.questions(), kShort.tries);
  // Whatever the tries may take.
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(ask(silent, kName, {30s, 2, 50ms}).error(), errc::dns_failed);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(TxtLookup, is_not_fooled_by_what_is_no_answer_to_its_question) {
  const test::DnsServer other_number(kZone, [](int, Message answer) {
    answer[0] ^= 1U;
    return answer;
  });
  EXPECT_EQ(ask(other_number, kName, kShort).error(), errc::dns_failed);
  const test::DnsServer other_name(kZone, [](int, Message answer) {
    answer[20] ^= 1U;
    return answer;
  });
  EXPECT_EQ(ask(other_name, kName, kShort).error(), errc::dns_failed);
}

TEST(TxtLookup, refuses_a_torn_answer_at_every_length) {
  constexpr std::size_t kHead = 12;
  std::size_t whole = 0;
  {
    const test::DnsServer server(kZone, [&whole](int, Message answer) {
      whole = answer.size();
      return answer;
    });
    ASSERT_TRUE(ask(server));
  }
  for (std::size_t length = 1; length < whole; ++length) {
    const test::DnsServer server(kZone, [length](int, Message answer) {
      answer.resize(length);
      return answer;
    });
    const auto texts = ask(server, kName, {5ms, 1, 10s});
    EXPECT_FALSE(texts) << length << " of " << whole;
    EXPECT_GT(whole, kHead);
  }
}

TEST(TxtLookup, refuses_records_that_do_not_add_up) {
  const auto with = [](std::size_t from_end, unsigned char byte) {
    const test::DnsServer server(kZone, [=](int, Message answer) {
      answer[answer.size() - from_end] = byte;
      return answer;
    });
    return ask(server, kName, kShort);
  };
  constexpr std::size_t kText = 22;
  ASSERT_EQ(std::string("did=did:web:alice.test").size(), kText);
  EXPECT_TRUE(with(kText + 1, kText));
  EXPECT_EQ(with(kText + 1, kText + 1).error(), errc::dns_failed);  // the part's length
  EXPECT_EQ(with(kText + 2, 200).error(), errc::dns_failed);        // the record's length
  EXPECT_EQ(with(kText + 3, 1).error(), errc::dns_failed);
  const test::DnsServer two(kZone, [](int, Message answer) {
    answer[7] = 2;  // two answers announced, one there
    return answer;
  });
  EXPECT_EQ(ask(two, kName, kShort).error(), errc::dns_failed);
}

TEST(TxtLookup, takes_tcp_where_a_datagram_is_too_small) {
  const std::string part(250, 'x');
  const test::DnsServer server({{kName, {{part, part, part, part}, {"did=did:web:alice.test"}}}});
  const auto texts = ask(server);
  ASSERT_TRUE(texts) << texts.error().message();
  EXPECT_EQ(*texts, (Texts{part + part + part + part, "did=did:web:alice.test"}));
  EXPECT_EQ(server.questions(), 2);
}

TEST(TxtLookup, a_name_that_dns_cannot_express_has_no_records) {
  const test::DnsServer server(kZone);
  std::string longest;
  while (longest.size() < 240) longest += std::string(60, 'a') + ".";
  const auto texts = ask(server, "_atproto." + longest + "test.example");
  ASSERT_TRUE(texts) << texts.error().message();
  EXPECT_EQ(*texts, Texts());
  EXPECT_EQ(server.questions(), 0);
}

TEST(TxtLookup, says_so_when_nobody_is_there) {
  std::uint16_t port = 0;
  {
    const test::DnsServer gone(kZone);
    port = gone.port();
  }
  // Refused at once, not after the time for an answer.
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(dns_txt_lookup({"127.0.0.1", port}, kSlow)(kName).error(), errc::dns_failed);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(dns_txt_lookup({"nowhere", 53}, kSlow)(kName).error(), errc::dns_failed);
  EXPECT_EQ(dns_txt_lookup({"::1", port}, kShort)(kName).error(), errc::dns_failed);
}

TEST(DnsServer, is_read_as_an_address_with_or_without_a_port) {
  struct Read {
    const char* text;
    const char* address;  // null: refused
    std::uint16_t port;
  };
  for (const Read& read :
       {Read{"9.9.9.9", "9.9.9.9", 53}, Read{"127.0.0.1:5353", "127.0.0.1", 5353},
        Read{"::1", "::1", 53}, Read{"[::1]", "::1", 53}, Read{"[::1]:5353", "::1", 5353},
        Read{"", nullptr, 0}, Read{"dns.test", nullptr, 0}, Read{"dns.test:53", nullptr, 0},
        Read{"9.9.9", nullptr, 0}, Read{"9.9.9.9:", nullptr, 0}, Read{"9.9.9.9:0", nullptr, 0},
        Read{"9.9.9.9:65536", nullptr, 0}, Read{"9.9.9.9:53x", nullptr, 0},
        Read{"[::1", nullptr, 0}, Read{"::1]:53", nullptr, 0}, Read{":53", nullptr, 0}}) {
    const auto server = parse_dns_server(read.text);
    ASSERT_EQ(server.has_value(), read.address != nullptr) << read.text;
    if (!server) continue;
    EXPECT_EQ(server->address, read.address) << read.text;
    EXPECT_EQ(server->port, read.port) << read.text;
  }
}

TEST(TxtLookup, many_threads_ask_at_once) {
  const test::DnsServer server(kZone);
  const auto lookup = dns_txt_lookup({"127.0.0.1", server.port()}, kSlow);
  std::vector<std::future<std::size_t>> found;
  for (int i = 0; i < 8; ++i) {
    found.push_back(std::async(std::launch::async, [&lookup] {
      std::size_t good = 0;
      for (int round = 0; round < 50; ++round) {
        const auto texts = lookup(kName);
        good += texts && *texts == Texts{"did=did:web:alice.test"} ? 1 : 0;
      }
      return good;
    }));
  }
  for (auto& each : found) EXPECT_EQ(each.get(), 50U);
}

}  // namespace
}  // namespace skua::documents::txt_lookup_test
