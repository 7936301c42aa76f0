#include "records/profile.hpp"

#include "records/field_reader.hpp"
#include "records/lists.hpp"
#include "records/post.hpp"
#include "records/post_parts.hpp"

namespace skua::records {

Profile Profile::decode(FieldReader& fields) {
  Profile profile;
  profile.display_name = fields.optional_text("displayName");
  profile.description = fields.optional_text("description");
  profile.pronouns = fields.optional_text("pronouns");
  profile.website = fields.optional_text("website", FieldReader::Format::Uri);
  profile.avatar = fields.optional_blob("avatar");
  profile.banner = fields.optional_blob("banner");
  profile.labels = fields.optional_self_labels("labels");
  profile.pinned = fields.optional_strong_ref("pinnedPost", Post::kCollection);
  profile.joined_via = fields.optional_strong_ref("joinedViaStarterPack", StarterPack::kCollection);
  profile.created_at = fields.optional_datetime("createdAt");
  return profile;
}

Status Status::decode(FieldReader& fields) {
  Status status;
  status.status = fields.text("status");
  status.created_at = fields.datetime("createdAt");
  status.duration_minutes = fields.optional_integer("durationMinutes");
  read_external_embed(fields);
  status.embed_json = fields.json("embed");
  return status;
}

}  // namespace skua::records
