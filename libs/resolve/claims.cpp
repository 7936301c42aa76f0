#include "resolve/claims.hpp"

#include <algorithm>

namespace skua::resolve {

Claims::Held::Held(Claims& claims, std::span<const std::string_view> wanted) : claims_(claims) {
  const std::scoped_lock lock(claims_.mutex_);
  for (const std::string_view did : wanted) {
    (claims_.held_.emplace(did).second ? mine_ : others_).push_back(did);
  }
}

Claims::Held::~Held() {
  {
    const std::scoped_lock lock(claims_.mutex_);
    for (const std::string_view did : mine_) claims_.held_.erase(std::string(did));
  }
  claims_.released_.notify_all();
}

void Claims::wait_for(std::span<const std::string_view> dids) {
  std::unique_lock lock(mutex_);
  released_.wait(lock, [&] {
    return std::none_of(dids.begin(), dids.end(),
                        [&](std::string_view did) { return held_.contains(std::string(did)); });
  });
}

}  // namespace skua::resolve
