#include <algorithm>

#include "feed/projections/projection.hpp"

namespace skua::feed {

// Each is defined in the file of its name.
const Projection& actor_stats();
const Projection& notifications();
const Projection& post_rules();
const Projection& post_stats();
const Projection& tag_trends();

const std::vector<const Projection*>& projections() {
  static const std::vector<const Projection*> kAll = {&actor_stats(), &notifications(),
                                                      &post_rules(), &post_stats(), &tag_trends()};
  return kAll;
}

const Projection* find_projection(std::string_view name) {
  const auto& all = projections();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Projection* one) { return one->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace skua::feed
