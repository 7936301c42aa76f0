#include "atproto/computed_number.hpp"

#include <algorithm>
#include <cstddef>

#include "atproto/account_group.hpp"
#include "atproto/sha256.hpp"
#include "base/bytes.hpp"

namespace skua::atproto {

AccountNumber computed_account_number(const NumberKey& key, std::string_view did) {
  Bytes text(key.begin(), key.end());
  text.insert(text.end(), did.begin(), did.end());
  const Digest digest = sha256(text);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof(bits); ++i) bits = bits << 8 | digest[i];
  const auto low = static_cast<AccountNumber>(bits & ((std::uint64_t{1} << kComputedBits) - 1));
  return AccountNumber{account_group(did)} << kComputedBits | std::max<AccountNumber>(low, 1);
}

}  // namespace skua::atproto
