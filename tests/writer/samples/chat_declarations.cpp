#include "records/declarations.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::ChatDeclaration> kChatDeclarationSample({
    .table = "chat_declarations",
    .record = {{"allowIncoming", "following"}},
    .expression = "t.allow_incoming",
    .expected = "following",
    .has_created_at = false,
});

}  // namespace
}  // namespace skua::test::samples
