#include "resolve/actor_numbers.hpp"

#include <algorithm>

#include "base/account_number.hpp"
#include "resolve/actor_numbers.sql.hpp"
#include "resolve/actor_sequence.hpp"

namespace skua::resolve {

std::vector<AccountNumber> ActorNumbers::take(store::Session& session, std::size_t count) {
  std::vector<AccountNumber> numbers = spare_.with([&](std::vector<AccountNumber>& spare) {
    const auto taken = static_cast<std::ptrdiff_t>(std::min(count, spare.size()));
    std::vector<AccountNumber> some(spare.end() - taken, spare.end());
    spare.erase(spare.end() - taken, spare.end());
    return some;
  });
  if (numbers.size() == count) return numbers;
  store::Params params;
  params.int4(static_cast<std::int32_t>(count - numbers.size()));
  try {
    const store::Rows drawn = session.execute(sql::actors_draw, params);
    numbers.reserve(count);
    for (std::size_t i = 0; i < drawn.size(); ++i) numbers.push_back(drawn.int8(i, 0));
  } catch (const store::SqlError&) {
    give_back(numbers);
    throw;
  }
  return numbers;
}

void ActorNumbers::give_back(std::span<const AccountNumber> numbers) {
  spare_.with([&](std::vector<AccountNumber>& spare) {
    spare.insert(spare.end(), numbers.begin(), numbers.end());
  });
}

void ActorNumbers::give_back_after_conflict(store::Session& session,
                                            std::span<const AccountNumber> numbers) {
  store::Array ids(store::Array::Type::int8);
  for (const AccountNumber number : numbers) ids.int8(number);
  store::Params params;
  params.array(ids);
  if (!session.execute(sql::actors_any_taken, params).boolean(0, 0)) {
    give_back(numbers);
    return;
  }
  spare_.with([](std::vector<AccountNumber>& spare) { spare.clear(); });
  raise_actor_sequence(session);
}

}  // namespace skua::resolve
