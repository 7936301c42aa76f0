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
  try {
    const auto drawn = session.query<AccountNumber>(sql::actors_draw, count - numbers.size());
    numbers.insert(numbers.end(), drawn.begin(), drawn.end());
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
  if (!session.query_one<bool>(sql::actors_any_taken, numbers)) {
    give_back(numbers);
    return;
  }
  spare_.with([](std::vector<AccountNumber>& spare) { spare.clear(); });
  raise_actor_sequence(session);
}

}  // namespace skua::resolve
