#include "records/profile.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::Status> kStatusSample({
    .table = "statuses",
    .record = {{"status", "app.bsky.actor.status#live"},
               {"embed",
                {{"$type", "app.bsky.embed.external"},
                 {"external", {{"uri", "https://a.test"}, {"title", "T"}, {"description", "D"}}}}},
               {"durationMinutes", 30}},
    .expression = concat({"t.status", "t.embed -> 'external' ->> 'uri'", "t.duration_minutes"}),
    .expected = "app.bsky.actor.status#live|https://a.test|30",
});

}  // namespace
}  // namespace skua::test::samples
