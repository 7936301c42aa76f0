#include "top/share.hpp"

#include <algorithm>

namespace skua::top {

std::vector<std::size_t> shared_out(const std::vector<std::size_t>& wanted, std::size_t all) {
  std::vector<std::size_t> shares(wanted.size());
  std::size_t hungry = wanted.size();
  while (hungry > 0 && all > 0) {
    const std::size_t each = std::max<std::size_t>(all / hungry, 1);
    hungry = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t more = std::min({each, wanted[i] - shares[i], all});
      shares[i] += more;
      all -= more;
      if (shares[i] < wanted[i]) ++hungry;
    }
  }
  return shares;
}

}  // namespace skua::top
