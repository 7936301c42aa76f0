#pragma once

#include <string_view>
#include <vector>

#include "records/facet.hpp"

namespace skua::records {

class FieldReader;

/// Reads and checks an optional list of app.bsky.richtext.facet. Features of a type not known here
/// are legal and give nothing.
std::vector<Facet> read_facets(FieldReader& fields, std::string_view key);

}  // namespace skua::records
