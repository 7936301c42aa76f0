#include "repo/commit.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "atproto/errc.hpp"
#include "atproto/signing.hpp"
#include "repo/car.hpp"
#include "repo/dag_cbor.hpp"
#include "repo/errc.hpp"
#include "repo/repository_listing.hpp"
#include "support/test_vectors.hpp"

namespace skua::repo::commit_test {
namespace {

using atproto::Cid;
using nlohmann::json;

const Bytes kSignature(64, 7);

Commit sample() {
  Commit commit;
  commit.did = "did:plc:abc";
  commit.data = Cid::of(as_bytes("tree"));
  commit.rev = *atproto::Tid::parse("3k2yihcrnxd2x");
  commit.signature = kSignature;
  return commit;
}

void expect_equal(const Commit& a, const Commit& b) {
  EXPECT_EQ(a.did, b.did);
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.data, b.data);
  EXPECT_EQ(a.rev, b.rev);
  EXPECT_EQ(a.prev, b.prev);
  EXPECT_EQ(Bytes(a.signature.begin(), a.signature.end()),
            Bytes(b.signature.begin(), b.signature.end()));
}

TEST(Commit, round_trips) {
  const Commit plain = sample();
  Commit with_prev = sample();
  with_prev.prev = Cid::of(as_bytes("before"));
  Commit old = sample();
  old.version = 2;
  Commit old_without_rev = old;
  old_without_rev.rev.reset();
  for (const Commit& commit : {plain, with_prev, old, old_without_rev}) {
    const Bytes block = commit_bytes(commit);
    const auto read = decode_commit(block);
    ASSERT_TRUE(read) << read.error().message();
    expect_equal(*read, commit);
    EXPECT_EQ(commit_bytes(*read), block);
  }
}

TEST(Commit, unsigned_bytes_lack_only_the_signature) {
  const Commit commit = sample();
  Bytes signature_entry;
  CborWriter writer(signature_entry);
  writer.string("sig");
  writer.bytes(commit.signature);
  EXPECT_EQ(unsigned_commit_bytes(commit).size() + signature_entry.size(),
            commit_bytes(commit).size());
  EXPECT_FALSE(decode_commit(unsigned_commit_bytes(commit)));
}

/// The sample's block, with one field written otherwise (or left out).
template <class F>
Bytes with_field(std::string_view changed, F&& write) {
  const Commit commit = sample();
  Bytes fields;
  CborWriter writer(fields);
  std::size_t count = 0;
  const auto field = [&](std::string_view name, auto&& usual) {
    if (name != changed) {
      writer.string(name);
      usual();
      ++count;
    } else if (write(writer)) {
      ++count;
    }
  };
  field("did", [&] { writer.string(commit.did); });
  field("rev", [&] { writer.string(commit.rev->to_string()); });
  field("sig", [&] { writer.bytes(commit.signature); });
  field("data", [&] { writer.link(commit.data); });
  field("prev", [&] { writer.null(); });
  field("version", [&] { writer.integer(3); });
  Bytes block;
  CborWriter(block).map(count);
  block.insert(block.end(), fields.begin(), fields.end());
  return block;
}

TEST(DecodeCommit, wants_each_field) {
  const auto left_out = [](CborWriter&) { return false; };
  for (const char* name : {"did", "rev", "sig", "data", "version"}) {
    const Bytes block = with_field(name, left_out);
    const auto read = decode_commit(block);
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error(), errc::commit_malformed) << name;
  }
  // Old producers left prev out.
  const Bytes without_prev = with_field("prev", left_out);
  ASSERT_TRUE(decode_commit(without_prev));
  EXPECT_EQ(commit_bytes(*decode_commit(without_prev)), commit_bytes(sample()));
}

TEST(DecodeCommit, wants_the_right_types) {
  const auto number = [](const char* name) {
    return with_field(name, [name](CborWriter& w) {
      w.string(name);
      w.integer(9);
      return true;
    });
  };
  for (const char* name : {"did", "rev", "sig", "data", "prev", "version"}) {
    const Bytes block = number(name);
    ASSERT_FALSE(decode_commit(block)) << name;
  }
  const auto text = [](const char* name, const char* value) {
    return with_field(name, [=](CborWriter& w) {
      w.string(name);
      w.string(value);
      return true;
    });
  };
  EXPECT_FALSE(decode_commit(text("did", "alice.example.com")));
  EXPECT_FALSE(decode_commit(text("rev", "now")));
  EXPECT_FALSE(decode_commit({}));
  EXPECT_FALSE(decode_commit(Bytes{0x80}));
}

struct SharedFile {
  std::string name;
  friend std::ostream& operator<<(std::ostream& out, const SharedFile& file) {
    return out << file.name;
  }
};

struct NameOfFile {
  std::string operator()(const testing::TestParamInfo<SharedFile>& info) const {
    return test::vector_name(info.index, info.param.name);
  }
};

class SharedCommits : public testing::TestWithParam<SharedFile> {};

TEST_P(SharedCommits, have_signatures_that_verify) {
  SKUA_NEED_SHARED();
  const auto folder = *test::shared_dir() / "data/commits";
  const json keys = json::parse(test::read_file(folder / "firehose_commit_keys.json"));
  const json event = json::parse(test::read_file(folder / GetParam().name));
  const Bytes car = test::from_base64(event.at("blocks").at("$bytes").get<std::string>());
  LoadedCar loaded;
  ASSERT_TRUE(load_car(car, loaded));
  ASSERT_EQ(loaded.roots.size(), 1U);
  const auto commit = decode_commit(loaded.blocks.at(loaded.roots[0].digest));
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->did, event.at("repo").get<std::string>());
  EXPECT_EQ(commit->rev->to_string(), event.at("rev").get<std::string>());
  const auto multikey =
      atproto::Multikey::parse_did_key(keys.at(std::string(commit->did)).get<std::string>());
  ASSERT_TRUE(multikey);
  const auto key = atproto::VerifyingKey::from_multikey(*multikey);
  const auto verdict = key->verify(unsigned_commit_bytes(*commit), commit->signature);
  EXPECT_TRUE(verdict) << verdict.error().message();
}

INSTANTIATE_TEST_SUITE_P(Files, SharedCommits,
                         testing::Values(SharedFile{"firehose_commit_4621317030.json"},
                                         SharedFile{"firehose_commit_4621317332.json"}),
                         NameOfFile());

/// The key of a DID document with the older kind of verification method: a point without prefix.
atproto::VerifyingKey legacy_key(const json& document) {
  const auto text =
      document.at("verificationMethod").at(0).at("publicKeyMultibase").get<std::string>();
  const auto point = atproto::decode_base58(std::string_view(text).substr(1));
  return *atproto::VerifyingKey::from_point(atproto::Curve::k256, *point);
}

/// Repositories of versions 3 and 2, with the DID documents of their time.
class SignedRepositories : public testing::TestWithParam<SharedFile> {};

TEST_P(SignedRepositories, have_signatures_that_verify) {
  SKUA_NEED_SHARED();
  const auto folder = *test::shared_dir() / "data/repos";
  const Bytes car = test::read_file(folder / (GetParam().name + ".repo.car"));
  const auto document = json::parse(test::read_file(folder / (GetParam().name + ".didDoc.json")));
  const auto repository = open_repository(car);
  ASSERT_TRUE(repository);
  const Commit& commit = repository->commit;
  const auto verdict = legacy_key(document).verify(unsigned_commit_bytes(commit), commit.signature);
  EXPECT_TRUE(verdict) << "version " << commit.version << ": " << verdict.error().message();
}

INSTANTIATE_TEST_SUITE_P(Files, SignedRepositories,
                         testing::Values(SharedFile{"greenground"}, SharedFile{"paul_staging"}),
                         NameOfFile());

}  // namespace
}  // namespace skua::repo::commit_test
