#include "verify/commit_verifier.hpp"

#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/test_vectors.hpp"
#include "verify/errc.hpp"
#include "verify/signed_repository.hpp"

namespace skua::verify::commit_verifier_test {
namespace {

using event::DecodedFrame;
using event::Operation;
using test::json;
using test::kDid;
using test::SignedRepository;
using Change = SignedRepository::Change;

const std::string kPost = "app.bsky.feed.post/";

/// The clock of all these tests: kRev's own time.
Timestamp now() {
  return atproto::Tid::parse(test::kRev)->time();
}

struct Judged {
  boost::system::error_code error;
  Accepted accepted;
};

/// Decodes a message and verifies it, as a decode thread does.
Judged judge(const std::string& type, const json& body, const atproto::VerifyingKey& key,
             const RepositoryState& state, Level level = Level::Full) {
  const Bytes frame = test::message(type, body);
  event::FrameDecoder decoder;
  DecodedFrame decoded;
  if (const auto read = decoder.decode(frame, decoded); !read) return {read.error(), {}};
  const auto commit = CommitVerifier::admit(decoded, state, now());
  if (!commit) return {commit.error(), {}};
  const auto verdict = CommitVerifier(level).verify(decoded, *commit, key, state);
  if (!verdict) return {verdict.error(), {}};
  return {{}, *verdict};
}

Judged judge(SignedRepository& repository, const json& body, const RepositoryState& state = {}) {
  return judge("#commit", body, repository.key(), state);
}

std::vector<Change> creates(int first, int count) {
  std::vector<Change> changes;
  for (int i = first; i < first + count; ++i) {
    changes.push_back({Operation::Create, kPost + "key" + std::to_string(i), std::to_string(i)});
  }
  return changes;
}

TEST(CommitVerifier, accepts_the_first_commit_and_then_each_next_one) {
  SignedRepository repository;
  auto first = judge(repository, repository.commit(creates(0, 20)));
  EXPECT_FALSE(first.error) << first.error.message();
  EXPECT_EQ(first.accepted.continuity, Continuity::Born);
  EXPECT_EQ(first.accepted.head, repository.head());

  const RepositoryState state{first.accepted.head};
  const auto second = judge(repository,
                            repository.commit({{Operation::Update, kPost + "key3", "new"},
                                               {Operation::Delete, kPost + "key4", ""},
                                               {Operation::Create, kPost + "key99", "more"}}),
                            state);
  EXPECT_FALSE(second.error) << second.error.message();
  EXPECT_EQ(second.accepted.continuity, Continuity::Next);
  EXPECT_EQ(second.accepted.head, repository.head());
}

TEST(CommitVerifier, accepts_a_commit_that_follows_something_missed_and_says_so) {
  SignedRepository repository;
  const auto first = judge(repository, repository.commit(creates(0, 5)));
  repository.commit(creates(5, 5));
  const auto third =
      judge(repository, repository.commit(creates(10, 5)), RepositoryState{first.accepted.head});
  EXPECT_FALSE(third.error) << third.error.message();
  EXPECT_EQ(third.accepted.continuity, Continuity::Broken);
}

TEST(CommitVerifier, knows_a_repository_that_was_empty_before) {
  const auto continuity_of = [](SignedRepository& repository, const json& body,
                                Level level = Level::Full) {
    const auto judged = judge("#commit", body, repository.key(), {}, level);
    EXPECT_FALSE(judged.error) << judged.error.message();
    return judged.accepted.continuity;
  };
  SignedRepository made;
  json first = made.commit(creates(0, 5));
  EXPECT_EQ(continuity_of(made, first), Continuity::Born);
  // The operations are not checked then, and may leave something out.
  EXPECT_EQ(continuity_of(made, first, Level::Signature), Continuity::First);
  // An old producer does not say what was before; undone, its operations do.
  first.erase("prevData");
  EXPECT_EQ(continuity_of(made, first), Continuity::Born);

  json second = made.commit(creates(5, 5));
  EXPECT_EQ(continuity_of(made, second), Continuity::First);
  second.erase("prevData");
  EXPECT_EQ(continuity_of(made, second), Continuity::First);
  json update = made.commit({{Operation::Update, kPost + "key3", "new"}});
  update.erase("prevData");
  EXPECT_EQ(continuity_of(made, update), Continuity::First);
}

TEST(CommitVerifier, a_repository_that_is_empty_has_no_history_to_bring_in) {
  SignedRepository empty;
  const json founding = empty.commit({});
  EXPECT_EQ(judge(empty, founding).accepted.continuity, Continuity::Born);
  const auto sync = judge("#sync", empty.sync(), empty.key(), {});
  EXPECT_FALSE(sync.error) << sync.error.message();
  EXPECT_EQ(sync.accepted.continuity, Continuity::Born);
  empty.commit(creates(0, 1));
  EXPECT_EQ(judge("#sync", empty.sync(), empty.key(), {}).accepted.continuity, Continuity::First);
}

TEST(CommitVerifier, accepts_a_commit_without_ops) {
  SignedRepository repository;
  const auto first = judge(repository, repository.commit(creates(0, 5)));
  const auto empty = judge(repository, repository.commit({}), RepositoryState{first.accepted.head});
  EXPECT_FALSE(empty.error) << empty.error.message();
  EXPECT_EQ(empty.accepted.continuity, Continuity::Next);
}

TEST(CommitVerifier, without_what_undoes_the_ops_the_tree_proves_them_and_the_chain_is_broken) {
  SignedRepository repository;
  json first = repository.commit(creates(0, 5));
  first.erase("prevData");
  EXPECT_FALSE(judge(repository, first).error);
  const std::vector<Change> changes = {{Operation::Create, kPost + "new", "created"},
                                       {Operation::Update, kPost + "key3", "updated"},
                                       {Operation::Delete, kPost + "key4", ""}};
  RepositoryState state{repository.head()};
  const json second = repository.commit(changes);
  const auto broken = [&](const std::function<void(json&)>& omit) {
    json body = second;
    omit(body);
    const auto judged = judge(repository, body, state);
    EXPECT_FALSE(judged.error) << judged.error.message();
    EXPECT_EQ(judged.accepted.head, repository.head());
    return judged.accepted.continuity;
  };
  EXPECT_EQ(broken([](json&) {}), Continuity::Next);
  EXPECT_EQ(broken([](json& body) { body.erase("prevData"); }), Continuity::Broken);
  EXPECT_EQ(broken([](json& body) { body["prevData"] = nullptr; }), Continuity::Broken);
  EXPECT_EQ(broken([](json& body) { body["ops"][1].erase("prev"); }), Continuity::Broken);
  EXPECT_EQ(broken([](json& body) { body["ops"][2].erase("prev"); }), Continuity::Broken);
  EXPECT_EQ(broken([](json& body) {
              body.erase("prevData");
              body["ops"][1].erase("prev");
              body["ops"][2]["prev"] = nullptr;
            }),
            Continuity::Broken);
  // The tree still decides.
  json lie = second;
  lie.erase("prevData");
  lie["ops"][0]["cid"] = lie["ops"][1]["cid"];
  EXPECT_EQ(judge(repository, lie, state).error, errc::op_not_in_tree);
}

TEST(CommitVerifier, a_record_may_be_missing_from_the_blocks) {
  SignedRepository repository;
  repository.commit(creates(0, 5));
  const RepositoryState state{repository.head()};
  auto parts = repository.change(creates(5, 2));
  const auto cid = parts.body["ops"][0]["cid"]["$link"].get<std::string>();
  parts.blocks.erase(*atproto::Cid::parse(cid));
  const auto judged = judge(repository, repository.sign(parts), state);
  EXPECT_FALSE(judged.error) << judged.error.message();
  EXPECT_EQ(judged.accepted.continuity, Continuity::Next);
}

TEST(CommitVerifier, a_sync_is_news_only_when_it_names_another_tree) {
  SignedRepository repository;
  repository.commit(creates(0, 5));
  const atproto::RepositoryHead before = repository.head();
  repository.commit({});
  auto same = judge("#sync", repository.sync(), repository.key(), {before});
  EXPECT_FALSE(same.error) << same.error.message();
  EXPECT_EQ(same.accepted.continuity, Continuity::Next);
  repository.commit(creates(5, 1));
  auto other = judge("#sync", repository.sync(), repository.key(), {before});
  EXPECT_FALSE(other.error) << other.error.message();
  EXPECT_EQ(other.accepted.continuity, Continuity::Broken);
  EXPECT_EQ(other.accepted.head, repository.head());
  EXPECT_EQ(
      judge("#sync", repository.sync(), SignedRepository(atproto::Curve::k256, 9).key(), {before})
          .error,
      errc::wrong_signature);
}

TEST(CommitVerifier, looks_at_the_signature_alone_when_told_so) {
  SignedRepository repository;
  json body = repository.commit(creates(0, 5));
  body["prevData"] = test::link_json(atproto::Cid::of(as_bytes("other")));
  EXPECT_FALSE(judge("#commit", body, repository.key(), {}, Level::Signature).error);
  EXPECT_EQ(
      judge("#commit", body, SignedRepository(atproto::Curve::k256, 9).key(), {}, Level::Signature)
          .error,
      errc::wrong_signature);
}

// --- what is refused, and why

/// Makes a second commit of a repository wrong before it is signed, or after.
struct Wrong {
  std::string name;
  errc reason;
  std::function<void(SignedRepository::Parts&)> before_signing = [](auto&) {};
  std::function<void(json&)> after_signing = [](json&) {};
  std::function<void(RepositoryState&)> state = [](RepositoryState&) {};
  friend std::ostream& operator<<(std::ostream& out, const Wrong& wrong) {
    return out << wrong.name;
  }
};

using Parts = SignedRepository::Parts;

atproto::Cid other_cid() {
  return atproto::Cid::of(as_bytes("other"));
}

std::vector<Wrong> wrongs() {
  std::vector<Wrong> all;
  all.push_back({.name = "the account is not active",
                 .reason = errc::inactive_account,
                 .state = [](RepositoryState& state) { state.active = false; }});
  all.push_back({.name = "a replayed rev",
                 .reason = errc::old_rev,
                 .state = [](RepositoryState& state) { state.head->rev.value += 1024; }});
  all.push_back({.name = "an older rev",
                 .reason = errc::old_rev,
                 .state = [](RepositoryState& state) { state.head->rev.value += 9999; }});
  all.push_back({.name = "a rev more than five minutes ahead",
                 .reason = errc::future_rev,
                 .after_signing = [](json& body) {
                   const auto rev = atproto::Tid::from_time(now() + kFuture + kFuture, 0);
                   body["rev"] = rev.to_string();
                   body["time"] = format_datetime(now());
                 }});
  all.push_back(
      {.name = "another commit than the root",
       .reason = errc::wrong_root,
       .after_signing = [](json& body) { body["commit"] = test::link_json(other_cid()); }});
  all.push_back({.name = "blocks without the commit",
                 .reason = errc::commit_missing,
                 .after_signing = [](json& body) {
                   const auto cid = body["commit"]["$link"].get<std::string>();
                   body["blocks"] = test::bytes_json(test::car_of(*atproto::Cid::parse(cid), {}));
                 }});
  all.push_back({.name = "no blocks at all",
                 .reason = errc::commit_missing,
                 .after_signing = [](json& body) { body["blocks"] = test::bytes_json({}); }});
  all.push_back({.name = "a root that is no commit",
                 .reason = errc::commit_malformed,
                 .after_signing = [](json& body) {
                   const Bytes record = test::cbor_of(test::post_json("no commit"));
                   const auto cid = atproto::Cid::of(record);
                   body["commit"] = test::link_json(cid);
                   body["blocks"] = test::bytes_json(test::car_of(cid, {{cid, record}}));
                 }});
  all.push_back({.name = "a commit of version 2",
                 .reason = errc::wrong_version,
                 .before_signing = [](Parts& parts) { parts.commit.version = 2; }});
  all.push_back({.name = "a commit of another account",
                 .reason = errc::wrong_did,
                 .before_signing = [](Parts& parts) { parts.commit.did = "did:plc:other"; }});
  all.push_back({.name = "a commit of another rev",
                 .reason = errc::wrong_rev,
                 .before_signing = [](Parts& parts) { parts.commit.rev->value += 1024; }});
  all.push_back({.name = "an op without action",
                 .reason = errc::malformed_op,
                 .after_signing = [](json& body) { body["ops"][0].erase("action"); }});
  all.push_back({.name = "an op with an unknown action",
                 .reason = errc::malformed_op,
                 .after_signing = [](json& body) { body["ops"][0]["action"] = "move"; }});
  all.push_back({.name = "an op without path",
                 .reason = errc::malformed_op,
                 .after_signing = [](json& body) { body["ops"][0].erase("path"); }});
  all.push_back({.name = "a create without cid",
                 .reason = errc::malformed_op,
                 .after_signing = [](json& body) { body["ops"][0]["cid"] = nullptr; }});
  all.push_back({.name = "two ops of one path",
                 .reason = errc::duplicate_path,
                 .after_signing = [](json& body) { body["ops"].push_back(body["ops"][0]); }});
  all.push_back(
      {.name = "a create of another record",
       .reason = errc::op_not_in_tree,
       .after_signing = [](json& body) { body["ops"][0]["cid"] = test::link_json(other_cid()); }});
  all.push_back({.name = "a create of another path",
                 .reason = errc::op_not_in_tree,
                 .after_signing = [](json& body) {
                   body["ops"][0]["path"] = body["ops"][0]["path"].get<std::string>() + "x";
                 }});
  all.push_back(
      {.name = "a delete of what is still there",
       .reason = errc::op_not_in_tree,
       .after_signing = [](json& body) {
         json& op = body["ops"][0];
         op = {{"action", "delete"}, {"path", op["path"]}, {"cid", nullptr}, {"prev", op["cid"]}};
       }});
  all.push_back({.name = "a tree without its top node",
                 .reason = errc::tree_incomplete,
                 .before_signing = [](Parts& parts) { parts.blocks.erase(parts.commit.data); }});
  all.push_back({.name = "a tree whose top node is a record",
                 .reason = errc::tree_malformed,
                 .before_signing = [](Parts& parts) {
                   const Bytes record = test::cbor_of(test::post_json("no node"));
                   parts.commit.data = atproto::Cid::of(record);
                   parts.blocks.emplace(parts.commit.data, record);
                 }});
  all.push_back(
      {.name = "another prevData",
       .reason = errc::wrong_prev_data,
       .after_signing = [](json& body) { body["prevData"] = test::link_json(other_cid()); }});
  all.push_back(
      {.name = "an update of another record",
       .reason = errc::wrong_prev_data,
       .after_signing = [](json& body) { body["ops"][1]["prev"] = test::link_json(other_cid()); }});
  all.push_back({.name = "a create that was an update",
                 .reason = errc::wrong_prev_data,
                 .after_signing = [](json& body) { body["ops"][1]["action"] = "create"; }});
  all.push_back({.name = "an op left out",
                 .reason = errc::wrong_prev_data,
                 .after_signing = [](json& body) { body["ops"].erase(0); }});
  all.push_back({.name = "all ops left out",
                 .reason = errc::wrong_prev_data,
                 .after_signing = [](json& body) { body["ops"].clear(); }});
  return all;
}

TEST(IsOfTheFuture, is_judged_by_the_later_of_our_clock_and_the_messages_time) {
  using namespace std::chrono_literals;
  const auto judged = [](std::chrono::seconds rev, std::chrono::seconds time) {
    return is_of_the_future(atproto::Tid::from_time(now() + rev, 0), now() + time, now());
  };
  EXPECT_FALSE(judged(5min, -24h));
  EXPECT_TRUE(judged(5min + 1s, -24h));
  EXPECT_FALSE(judged(15min, 10min));
  EXPECT_TRUE(judged(15min + 1s, 10min));
  // No more than an hour of what a host says is believed.
  EXPECT_FALSE(judged(65min, 24h));
  EXPECT_TRUE(judged(65min + 1s, 24h));
  EXPECT_TRUE(is_of_the_future(atproto::Tid::from_time(now() + 6min, 0), Timestamp{}, now()));
}

class CommitVerifierRefuses : public testing::TestWithParam<Wrong> {};

TEST_P(CommitVerifierRefuses, with_its_reason) {
  SignedRepository repository;
  repository.commit(creates(0, 30));
  RepositoryState state{repository.head()};
  const std::vector<Change> changes = {{Operation::Create, kPost + "new", "created"},
                                       {Operation::Update, kPost + "key7", "updated"},
                                       {Operation::Delete, kPost + "key8", ""}};
  Parts parts = repository.change(changes);
  GetParam().before_signing(parts);
  json body = repository.sign(parts);
  GetParam().after_signing(body);
  GetParam().state(state);
  const auto judged = judge(repository, body, state);
  EXPECT_EQ(judged.error, GetParam().reason) << judged.error.message();
  // Reasons that a message gets after the check of its signature.
  const bool is_checked_later = GetParam().reason >= errc::malformed_op;
  EXPECT_EQ(is_signed(GetParam().reason), is_checked_later);
}

INSTANTIATE_TEST_SUITE_P(Cases, CommitVerifierRefuses, testing::ValuesIn(wrongs()),
                         [](const auto& test) {
                           return skua::test::vector_name(test.index, test.param.name);
                         });

TEST(VerifyErrc, every_reason_has_a_name_of_its_own_and_a_case) {
  std::set<std::string> names;
  for (std::size_t i = 1; i <= kReasons; ++i) {
    const auto reason = static_cast<errc>(i);
    names.insert(name_of(reason));
    EXPECT_FALSE(make_error_code(reason).message().empty());
  }
  EXPECT_EQ(names.size(), kReasons);
  // Ingest and sources give these: before a verifier has a key, for labels, for foreign accounts,
  // and after moves.
  std::set<errc> met = {errc::wrong_signature, errc::no_did_document, errc::parked_over_budget,
                        errc::over_share,      errc::label_of_other,  errc::label_malformed,
                        errc::foreign_account, errc::already_indexed};
  for (const Wrong& wrong : wrongs()) met.insert(wrong.reason);
  EXPECT_EQ(met.size(), kReasons) << "a reason that no case gives";
}

// --- properties

class RandomHistory : public testing::TestWithParam<unsigned> {};

/// What an honest host says of any history is accepted, each commit as the next one; and one bit
/// changed in what its key or its tree vouches for is refused.
TEST_P(RandomHistory, is_accepted_and_no_other_one) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  SignedRepository repository(GetParam() % 4 == 0 ? atproto::Curve::p256 : atproto::Curve::k256);
  const auto key = repository.key();
  event::FrameDecoder decoder;
  DecodedFrame decoded;
  CommitVerifier verifier(Level::Full);
  RepositoryState state;
  int text = 0;
  for (int round = 0; round < 25; ++round) {
    std::vector<Change> changes;
    std::set<std::string> touched;
    for (std::size_t i = below(5); i > 0; --i) {
      std::string path = kPost + "k" + std::to_string(below(60));
      if (!touched.insert(path).second) continue;
      const bool exists = repository.records().contains(path);
      const auto operation = !exists         ? Operation::Create
                             : below(2) == 0 ? Operation::Update
                                             : Operation::Delete;
      changes.push_back({operation, std::move(path), std::to_string(++text)});
    }
    json body = repository.commit(changes);
    const Bytes frame = test::message("#commit", body);
    ASSERT_TRUE(decoder.decode(frame, decoded));
    const auto at = atproto::Tid{state.head ? state.head->rev : repository.head().rev}.time();
    const auto commit = CommitVerifier::admit(decoded, state, at);
    ASSERT_TRUE(commit) << commit.error().message();
    const auto accepted = verifier.verify(decoded, *commit, key, state);
    ASSERT_TRUE(accepted) << "round " << round << ": " << accepted.error().message();
    EXPECT_EQ(accepted->continuity, round == 0 ? Continuity::Born : Continuity::Next);
    EXPECT_EQ(accepted->head, repository.head());

    DecodedFrame& lie = decoded;
    const auto flip = [&](atproto::Cid& cid) {
      cid.digest[below(32)] ^= static_cast<std::uint8_t>(1U << below(8));
    };
    flip(*lie.claim.prev_data);
    EXPECT_EQ(verifier.verify(lie, *commit, key, state).error(), errc::wrong_prev_data);
    for (auto& op : lie.claim.ops) {
      if (!op.cid) continue;
      const auto honest = *op.cid;
      flip(*op.cid);
      EXPECT_EQ(verifier.verify(lie, *commit, key, state).error(), errc::op_not_in_tree);
      op.cid = honest;
    }
    state.head = accepted->head;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomHistory, testing::Range(1U, 41U));

}  // namespace
}  // namespace skua::verify::commit_verifier_test
