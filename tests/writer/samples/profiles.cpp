#include "records/profile.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::Profile> kProfileSample({
    .table = "profiles",
    .record = {{"displayName", "Name"},
               {"description", "Words"},
               {"pronouns", "they"},
               {"website", "https://a.test"},
               {"avatar", blob("avatar")},
               {"banner", blob("banner")},
               {"labels", labels("!no-unauthenticated")},
               {"pinnedPost", strong_ref(kPostUri)},
               {"joinedViaStarterPack", strong_ref(kPackUri)}},
    .expression = concat({"t.display_name", "t.description", "t.pronouns", "t.website",
                          "t.avatar_cid", "t.banner_cid", "t.labels",
                          reference("pinned", "1", true), reference("joined_via", "12", true)}),
    .expected = "Name|Words|they|https://a.test|" + cid_of("avatar", atproto::Cid::kRaw) + "|" +
                cid_of("banner", atproto::Cid::kRaw) + "|{!no-unauthenticated}|" +
                with_cid(kPostUri) + "|" + with_cid(kPackUri),
});

}  // namespace
}  // namespace skua::test::samples
