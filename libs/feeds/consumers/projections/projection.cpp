#include <algorithm>
#include <stdexcept>
#include <string>

#include "consumers/projections/embedded_projections.hpp"
#include "consumers/projections/projection_file.hpp"

namespace skua::consumers {

namespace {

std::string_view projection_text(std::string_view name) {
  for (const EmbeddedFile& file : embedded_projections()) {
    if (file.name == name) return file.text;
  }
  throw std::invalid_argument("no file " + std::string(name));
}

std::vector<Projection> read_all() {
  std::vector<Projection> all;
  for (const EmbeddedFile& file : embedded_projections()) {
    if (file.text.starts_with("-- projection:"))
      all.push_back(parse_projection(file.text, &projection_text));
  }
  return all;
}

}  // namespace

const std::vector<Projection>& projections() {
  static const std::vector<Projection> kAll = read_all();
  return kAll;
}

const Projection* find_projection(std::string_view name) {
  const auto& all = projections();
  const auto found = std::ranges::find(all, name, &Projection::name);
  return found == all.end() ? nullptr : &*found;
}

std::string_view built_in_text(std::string_view name) {
  return find_projection(name) != nullptr ? projection_text(name) : std::string_view();
}

}  // namespace skua::consumers
