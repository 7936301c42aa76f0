#include "identity/site_queue.hpp"

#include <stdexcept>
#include <utility>

namespace skua::identity {

std::string site_of(std::string_view did) {
  return site_of_host(did.substr(did.rfind(':') + 1));
}

std::string site_of_host(std::string_view host) {
  const auto last = host.rfind('.');
  if (last == std::string_view::npos || last == 0) return std::string(host);
  const auto before = host.rfind('.', last - 1);
  return std::string(before == std::string_view::npos ? host : host.substr(before + 1));
}

void SiteQueue::push(std::string did) {
  const auto name = site_of(did);
  auto& site = sites_[name];
  site.waiting.push_back(std::move(did));
  give_turn(name, site);
}

std::string SiteQueue::take() {
  const auto name = std::move(turns_.front());
  turns_.pop_front();
  auto& site = sites_.at(name);
  site.has_turn = false;
  auto did = std::move(site.waiting.front());
  site.waiting.pop_front();
  ++site.under_way;
  ++under_way_;
  give_turn(name, site);
  return did;
}

void SiteQueue::finished(std::string_view did) {
  const auto name = site_of(did);
  const auto place = sites_.find(name);
  if (place == sites_.end() || place->second.under_way == 0) {
    throw std::logic_error("a request finished that was not started");
  }
  auto& site = place->second;
  --site.under_way;
  --under_way_;
  if (site.under_way == 0 && site.waiting.empty()) {
    sites_.erase(place);
  } else {
    give_turn(name, site);
  }
}

void SiteQueue::give_turn(const std::string& name, Site& site) {
  if (site.has_turn || site.waiting.empty() || site.under_way >= of_one_site_) return;
  site.has_turn = true;
  turns_.push_back(name);
}

}  // namespace skua::identity
