#include "records/gates.hpp"
#include "writer/samples/sample.hpp"

namespace skua::test::samples {
namespace {

const SampleOf<records::Threadgate> kThreadgateSample({
    .table = "threadgates",
    .record = {{"post", kOwnPostUri},
               {"allow", json::array({{{"$type", "app.bsky.feed.threadgate#mentionRule"}},
                                      {{"$type", "app.bsky.feed.threadgate#followingRule"}},
                                      {{"$type", "app.bsky.feed.threadgate#listRule"},
                                       {"list", kListUri}}})},
               {"hiddenReplies", {kPostUri}}},
    .expression = concat({reference("post", "1", false), "t.is_restricted", "t.allow_mentioned",
                          "t.allow_following", "t.allow_followers", "t.allow_lists",
                          "t.hidden_replies"}),
    .expected = kOwnPostUri + "|t|t|t|f|{" + kListUri + "}|{" + kPostUri + "}",
});

}  // namespace
}  // namespace skua::test::samples
