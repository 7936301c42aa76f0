#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "atproto/data_model.hpp"
#include "event/json_event.hpp"
#include "records/record.hpp"
#include "repo/dag_cbor.hpp"
#include "world/network.hpp"
#include "world/record_maker.hpp"

namespace skua::sim::minimal_record_test {
namespace {

constexpr Timestamp kNow{std::chrono::microseconds(1'770'000'000'000'000)};
const NetworkSettings kSettings = [] {
  NetworkSettings settings;
  settings.outsiders = 100;
  settings.outside_share = 1.0;
  return settings;
}();

std::optional<std::string> fault_of(std::string_view nsid, std::string_view rkey,
                                    const nlohmann::json& record) {
  const auto block = event::json_to_dag_cbor(record);
  atproto::Document document;
  if (!block || !repo::read_dag_cbor(*block, document)) return "no DAG-CBOR";
  return records::decode_record(nsid, rkey, document).invalid_reason;
}

TEST(MinimalRecord, is_valid_in_each_collection_and_has_no_field_too_many) {
  const Subjects subjects(kSettings, kNow);
  Random random(1);
  records::for_each_collection([&]<class R>() {
    const std::string_view rkey = R::kSingleton ? "self" : "3jquh3dxgi52o";
    const auto record = make_minimal(random, subjects, R::kCollection, rkey, kNow);
    EXPECT_EQ(fault_of(R::kCollection, rkey, record), std::nullopt) << R::kCollection;
    for (const auto& [key, value] : record.items()) {
      if (key == "$type") continue;
      nlohmann::json without = record;
      without.erase(key);
      EXPECT_NE(fault_of(R::kCollection, rkey, without), std::nullopt)
          << R::kCollection << ": " << key;
    }
  });
}

TEST(MinimalRecord, names_a_subject_of_the_network) {
  const Subjects subjects(kSettings, kNow);
  Random random(1);
  const auto make = [&] {
    return make_minimal(random, subjects, "app.bsky.feed.like", "3jquh3dxgi52o", kNow);
  };
  const auto like = make();
  EXPECT_TRUE(like["subject"]["uri"].get<std::string>().starts_with("at://did:")) << like;
  EXPECT_NE(make()["subject"], like["subject"]);
}

TEST(MinimalRecord, a_fault_that_no_field_corrects_is_an_error) {
  const Subjects subjects(kSettings, kNow);
  Random random(1);
  EXPECT_THROW(make_minimal(random, subjects, "app.bsky.actor.profile", "other", kNow),
               std::logic_error);
}

}  // namespace
}  // namespace skua::sim::minimal_record_test
