#include "admin/wrong_tokens.hpp"

#include <algorithm>

namespace skua::admin {

bool WrongTokens::is_refused(const std::string& address, Timestamp now) const {
  const auto found = by_address_.find(address);
  return found != by_address_.end() && found->second.count >= kAllowed &&
         now - found->second.begins < kWindow;
}

void WrongTokens::add(const std::string& address, Timestamp now) {
  std::erase_if(by_address_, [&](const auto& one) { return now - one.second.begins >= kWindow; });
  if (by_address_.size() >= kAddresses && !by_address_.contains(address)) {
    by_address_.erase(std::min_element(by_address_.begin(), by_address_.end(),
                                       [](const auto& one, const auto& other) {
                                         return one.second.begins < other.second.begins;
                                       }));
  }
  by_address_.try_emplace(address, Window{now}).first->second.count += 1;
}

}  // namespace skua::admin
