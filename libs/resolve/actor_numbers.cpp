#include "resolve/actor_numbers.hpp"

#include <algorithm>

namespace skua::resolve {
namespace {

const store::Statement kDraw{
    "actors_draw", "SELECT nextval('bsky.actors_id_seq') FROM generate_series(1, $1::int4)"};

}  // namespace

std::vector<std::int32_t> ActorNumbers::take(store::Session& session, std::size_t count) {
  std::vector<std::int32_t> numbers = spare_.with([&](std::vector<std::int32_t>& spare) {
    const auto taken = static_cast<std::ptrdiff_t>(std::min(count, spare.size()));
    std::vector<std::int32_t> some(spare.end() - taken, spare.end());
    spare.erase(spare.end() - taken, spare.end());
    return some;
  });
  if (numbers.size() == count) return numbers;
  store::Params params;
  params.int4(static_cast<std::int32_t>(count - numbers.size()));
  try {
    const store::Rows drawn = session.execute(kDraw, params);
    numbers.reserve(count);
    for (std::size_t i = 0; i < drawn.size(); ++i) numbers.push_back(drawn.int4(i, 0));
  } catch (const store::SqlError&) {
    give_back(numbers);
    throw;
  }
  return numbers;
}

void ActorNumbers::give_back(std::span<const std::int32_t> numbers) {
  spare_.with([&](std::vector<std::int32_t>& spare) {
    spare.insert(spare.end(), numbers.begin(), numbers.end());
  });
}

}  // namespace skua::resolve
