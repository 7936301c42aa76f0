#pragma once

#include <optional>

#include "records/embed.hpp"
#include "records/reference.hpp"

namespace skua::records {

class FieldReader;

/// Reads and checks a post's optional `embed` and gives the record that it quotes, if it does. A
/// type not known here is legal and gives nothing.
std::optional<RecordRef> read_post_embed(FieldReader& fields, Embed& embed);

/// Checks a status's optional `embed`, where only app.bsky.embed.external is known.
void read_external_embed(FieldReader& fields);

}  // namespace skua::records
