#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "serve/dns_message.hpp"
#include "serve/handle_zone.hpp"
#include "skua-sim/heard_network.hpp"

namespace skua::sim::dns_test {
namespace {

using namespace std::string_literals;
using test_cases::HeardNetwork;

constexpr std::size_t kHeader = 12;
constexpr std::size_t kLongestAnswer = 512;

const std::string kAlice =
    "\x08_atproto\x05"
    "alice\x04test\0"s;
const std::string kTxtIn = "\0\x10\0\x01"s;
/// Root, OPT, 1232 bytes, no code, version 0, no flags, no options.
const std::string kOpt = "\0\0\x29\x04\xd0\0\0\0\0\0\0"s;
const std::string kOptVersion1 = "\0\0\x29\x04\xd0\0\x01\0\0\0\0"s;
/// With a cookie of eight bytes (RFC 7873).
const std::string kOptCookie =
    "\0\0\x29\x04\xd0\0\0\0\0\0\x0c\0\x0a\0\x08"
    "abcdefgh"s;

/// The id is 0x1234, the flags are RD, the counts are of one question and so many other records.
std::string header(char additional = 0) {
  return "\x12\x34\x01\0\0\x01\0\0\0\0\0"s + additional;
}

std::string plain_query() {
  return header() + kAlice + kTxtIn;
}

Bytes bytes_of(const std::string& text) {
  const auto view = as_bytes(text);
  return {view.begin(), view.end()};
}

std::string text_of(const Bytes& bytes) {
  return std::string(as_text(bytes));
}

/// As wire form, for handles as they come.
std::string name_on_wire(std::string_view name) {
  std::string wire;
  while (!name.empty()) {
    const auto label = name.substr(0, name.find('.'));
    wire += static_cast<char>(label.size());
    wire += label;
    name.remove_prefix(label.size() == name.size() ? name.size() : label.size() + 1);
  }
  return wire + '\0';
}

std::string labels(int count, std::size_t size) {
  std::string wire;
  for (int i = 0; i < count; ++i) wire += static_cast<char>(size) + std::string(size, 'x');
  return wire;
}

TEST(DnsMessage, query_is_read) {
  const auto query = read_dns_query(bytes_of(plain_query()));
  ASSERT_TRUE(query);
  EXPECT_EQ(query->verdict, DnsCode::ok);
  EXPECT_EQ(query->id, 0x1234);
  EXPECT_EQ(query->opcode, 0);
  EXPECT_TRUE(query->recursion_desired);
  EXPECT_FALSE(query->has_opt);
  EXPECT_EQ(query->name, "_atproto.alice.test");
  EXPECT_EQ(query->type, kDnsTxt);
  EXPECT_EQ(text_of(query->question), kAlice + kTxtIn);
}

TEST(DnsMessage, names_are_compared_without_case) {
  const auto query = read_dns_query(bytes_of(header() +
                                             "\x08_ATproto\x05"
                                             "aLiCe\x04TEST\0"s +
                                             kTxtIn));
  EXPECT_EQ(query->name, "_atproto.alice.test");
  // Some clients write them in letters of a random case, and want to see the same again.
  EXPECT_EQ(text_of(query->question),
            "\x08_ATproto\x05"
            "aLiCe\x04TEST\0"s +
                kTxtIn);
}

TEST(DnsMessage, a_dot_in_a_label_makes_no_other_name) {
  const auto query =
      read_dns_query(bytes_of(header() + "\x0e_atproto.alice\x06te\\st.\0"s + kTxtIn));
  EXPECT_EQ(query->name, "_atproto\\.alice.te\\\\st\\.");
}

TEST(DnsMessage, answer_with_text) {
  auto query = *read_dns_query(bytes_of(plain_query()));
  EXPECT_EQ(text_of(write_dns_answer(query, {DnsCode::ok, "did=did:plc:a"})),
            "\x12\x34\x85\0\0\x01\0\x01\0\0\0\0"s + kAlice + kTxtIn +
                "\xc0\x0c\0\x10\0\x01\0\0\0\0\0\x0e\x0d"
                "did=did:plc:a"s);
  query.recursion_desired = false;
  EXPECT_EQ(text_of(write_dns_answer(query, {DnsCode::ok, {}})),
            "\x12\x34\x84\0\0\x01\0\0\0\0\0\0"s + kAlice + kTxtIn);
}

TEST(DnsMessage, a_refusal_has_no_authority) {
  const auto query = *read_dns_query(bytes_of(plain_query()));
  EXPECT_EQ(text_of(write_dns_answer(query, {DnsCode::no_such_name, {}})),
            "\x12\x34\x85\x03\0\x01\0\0\0\0\0\0"s + kAlice + kTxtIn);
  EXPECT_EQ(text_of(write_dns_answer(query, {DnsCode::failed, {}})),
            "\x12\x34\x81\x02\0\x01\0\0\0\0\0\0"s + kAlice + kTxtIn);
}

TEST(DnsMessage, opt_is_answered_with_opt) {
  const auto query = *read_dns_query(bytes_of(header(1) + kAlice + kTxtIn + kOptCookie));
  EXPECT_EQ(query.verdict, DnsCode::ok);
  EXPECT_TRUE(query.has_opt);
  EXPECT_EQ(text_of(query.question), kAlice + kTxtIn);
  EXPECT_EQ(text_of(write_dns_answer(query, {DnsCode::no_such_name, {}})),
            "\x12\x34\x85\x03\0\x01\0\0\0\0\0\x01"s + kAlice + kTxtIn + kOpt);
}

TEST(DnsMessage, an_unknown_version_of_opt_is_told_so) {
  const auto query = *read_dns_query(bytes_of(header(1) + kAlice + kTxtIn + kOptVersion1));
  EXPECT_EQ(query.verdict, DnsCode::bad_version);
  EXPECT_EQ(
      text_of(write_dns_answer(query, {query.verdict, {}})),
      "\x12\x34\x81\0\0\x01\0\0\0\0\0\x01"s + kAlice + kTxtIn + "\0\0\x29\x04\xd0\x01\0\0\0\0\0"s);
}

TEST(DnsMessage, of_what_could_not_be_read_nothing_is_repeated) {
  const auto query = *read_dns_query(bytes_of(header(1) + kAlice + kTxtIn + kOpt + "x"));
  EXPECT_EQ(query.verdict, DnsCode::malformed);
  EXPECT_EQ(text_of(write_dns_answer(query, {query.verdict, {}})),
            "\x12\x34\x81\x01\0\0\0\0\0\0\0\0"s);
}

TEST(DnsMessage, a_text_is_one_string) {
  const auto query = *read_dns_query(bytes_of(plain_query()));
  EXPECT_EQ(write_dns_answer(query, {DnsCode::ok, std::string(255, 'x')}).size(),
            plain_query().size() + kHeader + 256);
  EXPECT_THROW(write_dns_answer(query, {DnsCode::ok, std::string(256, 'x')}), std::length_error);
}

struct Judged {
  const char* name;
  std::string datagram;
  std::optional<DnsCode> verdict;  // nothing: dropped
};

std::ostream& operator<<(std::ostream& out, const Judged& judged) {
  return out << judged.name;
}

class DnsQueryForm : public ::testing::TestWithParam<Judged> {};

TEST_P(DnsQueryForm, is_judged) {
  const auto query = read_dns_query(bytes_of(GetParam().datagram));
  ASSERT_EQ(query.has_value(), GetParam().verdict.has_value());
  if (query) {
    EXPECT_EQ(dns_code_name(query->verdict), dns_code_name(*GetParam().verdict));
  }
}

std::string with_flags(const std::string& flags) {
  return plain_query().replace(2, flags.size(), flags);
}
std::string with_counts(const std::string& counts) {
  return plain_query().replace(4, counts.size(), counts);
}

INSTANTIATE_TEST_SUITE_P(
    Good, DnsQueryForm,
    ::testing::Values(
        Judged{"plain", plain_query(), DnsCode::ok},
        Judged{"no_recursion", with_flags("\0\0"s), DnsCode::ok},
        Judged{"flags_of_later_years", with_flags("\x07\x7f"), DnsCode::ok},
        Judged{"opt", header(1) + kAlice + kTxtIn + kOpt, DnsCode::ok},
        Judged{"opt_behind_another_record",
               header(2) + kAlice + kTxtIn + "\x01k\0\0\xfa\0\xff\0\0\0\0\0\x02xy"s + kOpt,
               DnsCode::ok},
        Judged{"the_root", header() + '\0' + kTxtIn, DnsCode::ok},
        Judged{"label_of_63", header() + labels(1, 63) + '\0' + kTxtIn, DnsCode::ok},
        Judged{"name_of_255", header() + labels(3, 63) + labels(1, 61) + '\0' + kTxtIn,
               DnsCode::ok},
        Judged{"any_bytes_in_a_label", header() + "\x03\0\xff.\0"s + kTxtIn, DnsCode::ok}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Bad, DnsQueryForm,
    ::testing::Values(
        Judged{"empty", "", {}}, Judged{"half_a_header", header().substr(0, 11), {}},
        Judged{"answer", with_flags("\x81\0"s), {}},
        Judged{"malformed_answer", "\x12\x34\x80\0\0\x01\0\0\0\0\0\0"s, {}},
        Judged{"inverse_query", with_flags("\x08\0"s), DnsCode::not_implemented},
        Judged{"update", with_flags("\x28\0"s), DnsCode::not_implemented},
        Judged{"opcode_15_of_nothing", "\x12\x34\x78\0\0\0\0\0\0\0\0\0"s, DnsCode::not_implemented},
        Judged{"chaos", header() + kAlice + "\0\x10\0\x03"s, DnsCode::refused},
        Judged{"any_class", header() + kAlice + "\0\x10\0\xff"s, DnsCode::refused},
        Judged{"header_only", header(), DnsCode::malformed},
        Judged{"no_question", with_counts("\0\0"s), DnsCode::malformed},
        Judged{"two_questions", with_counts("\0\x02"s) + kAlice + kTxtIn, DnsCode::malformed},
        Judged{"pointer", header() + "\xc0\x0c"s + kTxtIn, DnsCode::malformed},
        Judged{"pointer_behind_a_label", header() + "\x08_atproto\xc0\x0c"s + kTxtIn,
               DnsCode::malformed},
        Judged{"label_of_64", header() + labels(1, 64) + '\0' + kTxtIn, DnsCode::malformed},
        Judged{"label_type_2", header() + "\x80" + kTxtIn, DnsCode::malformed},
        Judged{"name_of_256", header() + labels(3, 63) + labels(1, 62) + '\0' + kTxtIn,
               DnsCode::malformed},
        Judged{"name_without_end", header() + labels(3, 63), DnsCode::malformed},
        Judged{"no_type", header() + kAlice, DnsCode::malformed},
        Judged{"half_a_class", header() + kAlice + kTxtIn.substr(0, 3), DnsCode::malformed},
        Judged{"more_than_it_says", plain_query() + kOpt, DnsCode::malformed},
        Judged{"less_than_it_says", header(1) + kAlice + kTxtIn, DnsCode::malformed},
        Judged{"many_records_that_are_missing", with_counts("\0\x01\xff\xff\xff\xff\xff\xff"s),
               DnsCode::malformed},
        Judged{"opt_data_without_end", header(1) + kAlice + kTxtIn + kOptCookie.substr(0, 20),
               DnsCode::malformed},
        Judged{"opt_with_a_name", header(1) + kAlice + kTxtIn + "\x01o" + kOpt, DnsCode::malformed},
        Judged{"opt_twice", header(2) + kAlice + kTxtIn + kOpt + kOpt, DnsCode::malformed},
        Judged{"opt_version_1", header(1) + kAlice + kTxtIn + kOptVersion1, DnsCode::bad_version},
        Judged{"malformed_in_a_foreign_class", header(1) + kAlice + "\0\x10\0\x03"s,
               DnsCode::malformed}),
    [](const auto& test) { return test.param.name; });

/// What holds of every answer, and of silence.
void check_answer(const Bytes& datagram, const Network& network) {
  const auto query = read_dns_query(datagram);
  const bool silent = datagram.size() < kHeader || (datagram[2] & 0x80) != 0;
  ASSERT_EQ(query.has_value(), !silent);
  if (silent) return;
  const auto answer = write_dns_answer(*query, answer_from_handles(*query, network));
  ASSERT_GE(answer.size(), kHeader);
  ASSERT_LE(answer.size(), kLongestAnswer);
  EXPECT_EQ(answer[0], datagram[0]);
  EXPECT_EQ(answer[1], datagram[1]);
  // It is none that a server would answer.
  EXPECT_FALSE(read_dns_query(answer));
}

TEST(DnsMessage, every_beginning_of_a_good_query_is_malformed) {
  const auto whole = bytes_of(header(1) + kAlice + kTxtIn + kOptCookie);
  ASSERT_EQ(read_dns_query(whole)->verdict, DnsCode::ok);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // In memory of just this size, for the sanitizers.
    const Bytes beginning(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto query = read_dns_query(beginning);
    ASSERT_EQ(query.has_value(), size >= kHeader) << size;
    if (query) {
      EXPECT_EQ(query->verdict, DnsCode::malformed) << size;
    }
  }
}

TEST(DnsMessage, every_change_of_a_byte_is_survived) {
  HeardNetwork heard(test_cases::small_settings(41));
  const auto whole = bytes_of(header(1) + kAlice + kTxtIn + kOptCookie);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      auto changed = whole;
      changed[at] = static_cast<std::uint8_t>(value);
      check_answer(changed, heard.network());
    }
  }
}

TEST(DnsMessage, random_bytes_are_survived) {
  HeardNetwork heard(test_cases::small_settings(42));
  std::mt19937_64 random(42);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  for (int round = 0; round < 100'000; ++round) {
    Bytes datagram(random() % 100);
    for (auto& byte : datagram) byte = static_cast<std::uint8_t>(random());
    check_answer(datagram, heard.network());
  }
}

/// Pieces of good queries in any order, behind a good header: more of them are nearly right.
TEST(DnsMessage, random_pieces_are_survived) {
  HeardNetwork heard(test_cases::small_settings(42));
  std::mt19937_64 random(42);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  const std::vector<std::string> pieces = {kAlice, kTxtIn,     "\0"s, labels(1, 63), labels(1, 1),
                                           kOpt,   kOptCookie, "\0"s, "\xc0\x0c",    kTxtIn};
  int good = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::string datagram = header(static_cast<char>(random() % 3));
    for (auto left = random() % 8; left > 0; --left) datagram += pieces[random() % pieces.size()];
    check_answer(bytes_of(datagram), heard.network());
    if (read_dns_query(bytes_of(datagram))->verdict == DnsCode::ok) ++good;
  }
  // Else it is the same few refusals that were tried.
  EXPECT_GT(good, 100);
}

/// What the network's DNS says of a name.
DnsAnswer ask(const Network& network, const std::string& name, std::uint16_t type = kDnsTxt) {
  const std::string its_type = {static_cast<char>(type >> 8), static_cast<char>(type)};
  const auto query = read_dns_query(bytes_of(header() + name_on_wire(name) + its_type + "\0\x01"s));
  EXPECT_EQ(query->verdict, DnsCode::ok);
  return answer_from_handles(*query, network);
}

TEST(HandleZone, has_the_handles_that_lead_to_accounts) {
  HeardNetwork heard(test_cases::small_settings(43));
  heard.steps(1'000);
  const auto& network = heard.network();
  int led = 0;
  for (const auto& did : network.dids()) {
    const auto account = *network.account(did);
    const auto answer = ask(network, "_atproto." + account.handle);
    const auto owner = network.resolve_handle(account.handle);
    EXPECT_EQ(answer.code, owner ? DnsCode::ok : DnsCode::no_such_name);
    EXPECT_EQ(answer.text.has_value(), owner.has_value());
    if (account.handle_valid) {
      EXPECT_EQ(answer.text, "did=" + did);
      ++led;
    }
  }
  EXPECT_GT(led, 5);
}

TEST(HandleZone, other_names_and_types) {
  HeardNetwork heard(test_cases::small_settings(44));
  const auto& network = heard.network();
  const auto account = *network.account(network.dids().front());
  ASSERT_TRUE(account.handle_valid);
  const auto name = "_atproto." + account.handle;
  for (const auto& unknown :
       {account.handle, "_atproto."s + name, "_atproto.nobody.test"s, "_atproto"s, "test"s, ""s}) {
    EXPECT_EQ(ask(network, unknown).code, DnsCode::no_such_name) << unknown;
  }
  std::string upper = name;
  for (char& letter : upper) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  EXPECT_EQ(ask(network, upper).text, "did=" + account.did);
  for (const auto type : std::initializer_list<std::uint16_t>{1, 5, 28, 255}) {
    const auto answer = ask(network, name, type);
    EXPECT_EQ(answer.code, DnsCode::ok) << type;
    EXPECT_EQ(answer.text, std::nullopt) << type;
    EXPECT_EQ(ask(network, "_atproto.nobody.test", type).code, DnsCode::no_such_name) << type;
  }
}

TEST(HandleZone, a_verdict_stands) {
  HeardNetwork heard(test_cases::small_settings(45));
  const auto query = *read_dns_query(bytes_of(header()));
  EXPECT_EQ(answer_from_handles(query, heard.network()).code, DnsCode::malformed);
}

}  // namespace
}  // namespace skua::sim::dns_test
