// The real frames, with the DID documents that lie beside them.
#include <cstring>
#include <map>
#include <string>
#include <vector>
#include <zstd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "repo/errc.hpp"
#include "support/shared_data.hpp"
#include "verify/commit_verifier.hpp"
#include "verify/errc.hpp"

namespace skua::verify::shared_frames_test {
namespace {

using nlohmann::json;

json unpack(const std::filesystem::path& path) {
  const Bytes packed = test::read_file(path);
  std::string text(ZSTD_getFrameContentSize(packed.data(), packed.size()), '\0');
  text.resize(ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size()));
  return json::parse(text);
}

class SharedFrames : public testing::TestWithParam<std::size_t> {
 public:
  static const std::vector<Bytes>& frames() {
    static const std::vector<Bytes> all = [] {
      std::vector<Bytes> read;
      const auto shared = test::shared_dir();
      if (!shared) return read;
      const Bytes capture = test::read_file(*shared / "data/frames/bsky-network-2026-07-04.frames");
      for (std::size_t at = 0; at + 4 <= capture.size();) {
        std::uint32_t size = 0;
        std::memcpy(&size, capture.data() + at, 4);
        const auto begin = capture.begin() + static_cast<std::ptrdiff_t>(at + 4);
        read.emplace_back(begin, begin + size);
        at += 4 + size;
      }
      return read;
    }();
    return all;
  }

 protected:
  void SetUp() override {
    SKUA_NEED_SHARED();
    frame_ = frames()[GetParam()];
    ASSERT_TRUE(decoder_.decode(frame_, decoded_));
    if (decoded_.type != event::MessageType::Commit) return;
    const auto commit = CommitVerifier::admit(decoded_, {}, decoded_.time);
    ASSERT_TRUE(commit) << commit.error().message();
    commit_ = *commit;
  }
  bool is_commit() const { return decoded_.type == event::MessageType::Commit; }

  atproto::VerifyingKey key() const {
    static const json documents = unpack(*test::shared_dir() / "data/frames/did_docs.json.zst");
    const json& methods = documents.at(decoded_.did).at("verificationMethod");
    for (const json& method : methods) {
      if (!method.at("id").get<std::string>().ends_with("#atproto")) continue;
      const auto text = method.at("publicKeyMultibase").get<std::string>();
      return *atproto::VerifyingKey::from_multikey(*atproto::Multikey::parse(text));
    }
    throw std::runtime_error("no key of " + decoded_.did);
  }
  boost::system::error_code verdict() {
    const auto verified = verifier_.verify(decoded_, commit_, key(), {});
    return verified ? boost::system::error_code() : verified.error();
  }

  Bytes frame_;
  event::FrameDecoder decoder_;
  event::DecodedFrame decoded_;
  repo::Commit commit_;
  CommitVerifier verifier_{Level::Full};
};

TEST_P(SharedFrames, are_what_their_accounts_signed) {
  if (!is_commit()) return;
  EXPECT_TRUE(decoded_.claim.prev_data);
  EXPECT_FALSE(verdict()) << verdict().message();
}

TEST_P(SharedFrames, are_refused_with_any_bit_of_the_signature_changed) {
  if (!is_commit()) return;
  Bytes signature(commit_.signature.begin(), commit_.signature.end());
  commit_.signature = signature;
  const auto account = key();
  for (std::size_t bit = 0; bit < signature.size() * 8; ++bit) {
    signature[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    const auto verified = verifier_.verify(decoded_, commit_, account, {});
    ASSERT_FALSE(verified) << "bit " << bit;
    EXPECT_EQ(verified.error(), errc::wrong_signature) << "bit " << bit;
    signature[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
  }
}

TEST_P(SharedFrames, are_refused_with_any_bit_of_a_claim_changed) {
  if (!is_commit()) return;
  const auto expect_refused = [&](atproto::Cid& cid, errc reason, auto&& check) {
    for (std::size_t bit = 0; bit < 256; ++bit) {
      cid.digest[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
      EXPECT_EQ(check(), reason) << "bit " << bit;
      cid.digest[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    }
  };
  const auto ops = [&] {
    return verifier_.check_ops(decoded_.claim, decoded_.car, commit_).error();
  };
  expect_refused(*decoded_.claim.prev_data, errc::wrong_prev_data, ops);
  for (event::OpClaim& op : decoded_.claim.ops) {
    if (op.cid) expect_refused(*op.cid, errc::op_not_in_tree, ops);
    if (op.prev) expect_refused(*op.prev, errc::wrong_prev_data, ops);
  }
  expect_refused(*decoded_.claim.commit, errc::wrong_root,
                 [&] { return CommitVerifier::admit(decoded_, {}, decoded_.time).error(); });
}

/// One bit of every byte, another one from byte to byte; SKUA_LONG: every bit.
TEST_P(SharedFrames, are_refused_with_any_bit_of_any_block_changed) {
  if (!is_commit()) return;
  const bool every_bit = std::getenv("SKUA_LONG") != nullptr;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const auto& [digest, block] : decoded_.car.blocks) {
    places.emplace_back(static_cast<std::size_t>(block.data() - frame_.data()), block.size());
  }
  event::DecodedFrame decoded;
  for (const auto& [begin, size] : places) {
    for (std::size_t at = begin; at < begin + size; ++at) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        if (!every_bit && bit != at % 8) continue;
        frame_[at] ^= static_cast<std::uint8_t>(1U << bit);
        const auto read = decoder_.decode(frame_, decoded);
        ASSERT_FALSE(read) << "byte " << at << ", bit " << bit;
        EXPECT_EQ(read.error(), repo::errc::car_hash_mismatch) << "byte " << at << ", bit " << bit;
        frame_[at] ^= static_cast<std::uint8_t>(1U << bit);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Frame, SharedFrames, testing::Range(std::size_t{0}, std::size_t{90}));

TEST(SharedFramesTotal, are_ninety_most_of_them_commits) {
  SKUA_NEED_SHARED();
  std::size_t commits = 0;
  event::FrameDecoder decoder;
  event::DecodedFrame decoded;
  for (const Bytes& frame : SharedFrames::frames()) {
    ASSERT_TRUE(decoder.decode(frame, decoded));
    if (decoded.type == event::MessageType::Commit) ++commits;
  }
  EXPECT_EQ(SharedFrames::frames().size(), 90U);
  EXPECT_GT(commits, 80U);
}

}  // namespace
}  // namespace skua::verify::shared_frames_test
