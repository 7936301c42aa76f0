#include "records/declarations.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::NotificationDeclaration> kNotificationDeclarationSample({
    .table = "notification_declarations",
    .record = {{"allowSubscriptions", "mutuals"}},
    .expression = "t.allow_subscriptions",
    .expected = "mutuals",
    .has_created_at = false,
});

}  // namespace
}  // namespace skua::test::samples
