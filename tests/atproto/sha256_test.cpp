#include "atproto/sha256.hpp"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "support/test_vectors.hpp"

namespace skua::atproto::sha256_test {
namespace {

std::string hex_of(std::string_view text) {
  const Digest digest = sha256(as_bytes(text));
  return test::to_hex({digest.begin(), digest.end()});
}

// The examples of FIPS 180-2.
TEST(Sha256, gives_the_standards_digests) {
  EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Short texts are padded here, the others by the library: at the edges, and beside each other.
TEST(Sha256, is_that_of_the_library_at_every_length) {
  std::string text;
  for (std::size_t size = 0; size <= 200; ++size) {
    Digest expected;
    ASSERT_EQ(EVP_Digest(text.data(), size, expected.data(), nullptr, EVP_sha256(), nullptr), 1);
    EXPECT_EQ(sha256(as_bytes(text)), expected) << size << " bytes";
    text.push_back(static_cast<char>(size * 7 + 1));
  }
}

TEST(IsSameSecret, each_byte_counts) {
  const Digest digest = sha256(as_bytes("abc"));
  EXPECT_TRUE(is_same_secret(digest, sha256(as_bytes("abc"))));
  for (std::size_t i = 0; i < digest.size(); ++i) {
    Digest other = digest;
    other[i] ^= 1;
    EXPECT_FALSE(is_same_secret(digest, other)) << i;
  }
}

}  // namespace
}  // namespace skua::atproto::sha256_test
