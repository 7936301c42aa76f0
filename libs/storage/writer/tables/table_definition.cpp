#include <algorithm>
#include <functional>
#include <utility>

#include "writer/tables/keyed_table.hpp"

namespace skua::writer {

namespace {

using postgres::column;
using tables::ReferenceTarget;

using Questions = std::span<const ReferenceQuestion>;
/// Indices of questions.
using Asked = std::vector<std::size_t>;

/// From so many questions about an account on, its rows are read at once. Otherwise each question
/// is a look-up in the index by target and account, whose entries for an account are at random
/// places.
constexpr std::size_t kWorthReadingAll = 20;

/// A row of TableStatements::own_references.
struct OwnReference {
  std::int64_t place;
  AccountNumber actor;
  std::int32_t collection;
  std::int64_t target_rkey;
  std::int64_t rkey;

  ReferenceTarget target() const { return {actor, collection, target_rkey}; }
};

bool by_target(const OwnReference& one, const OwnReference& other) {
  return one.target() < other.target();
}

/// Answers questions whether an account has another row that refers to the target. Reads the rows
/// of accounts with many questions. Adds 1 to the numbers of those with another row, and returns
/// the questions that are left.
Asked answer_from_rows(postgres::Session& session, const postgres::Statement& own_references,
                       Questions questions, Asked asked, std::vector<std::int64_t>& numbers) {
  std::stable_sort(asked.begin(), asked.end(), [&](std::size_t a, std::size_t b) {
    return questions[a].actor_id < questions[b].actor_id;
  });
  Asked rest;
  std::vector<std::span<const std::size_t>> groups;
  std::vector<AccountNumber> actors;
  std::vector<std::int64_t> limits;
  for (auto first = asked.begin(); first != asked.end();) {
    const AccountNumber actor = questions[*first].actor_id;
    const auto last = std::find_if(first, asked.end(),
                                   [&](std::size_t i) { return questions[i].actor_id != actor; });
    const auto size = static_cast<std::size_t>(last - first);
    if (size < kWorthReadingAll) {
      rest.insert(rest.end(), first, last);
    } else {
      groups.emplace_back(first, last);
      actors.push_back(actor);
      limits.push_back(static_cast<std::int64_t>(2 * size + 1));
    }
    first = last;
  }
  if (groups.empty()) return rest;

  auto rows = session.query<OwnReference>(own_references, actors, limits);
  std::stable_sort(rows.begin(), rows.end(), [](const OwnReference& a, const OwnReference& b) {
    return std::pair(a.place, a.target()) < std::pair(b.place, b.target());
  });
  auto next = rows.begin();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto first = next;
    next = std::find_if(first, rows.end(), [&](const OwnReference& row) {
      return row.place != static_cast<std::int64_t>(group);
    });
    // If there are more rows than the limit, some were not read.
    if (next - first == limits[group]) {
      rest.insert(rest.end(), groups[group].begin(), groups[group].end());
      continue;
    }
    for (const std::size_t i : groups[group]) {
      const ReferenceTarget& target = questions[i].target;
      const auto [begin, end] = std::equal_range(
          first, next, OwnReference{0, target.actor_id, target.collection_id, target.rkey, 0},
          by_target);
      if (std::any_of(begin, end,
                      [&](const OwnReference& row) { return row.rkey != questions[i].rkey; })) {
        numbers[i] += 1;
      }
    }
  }
  return rest;
}

}  // namespace

std::vector<std::int64_t> KeyedTable::count_references(postgres::Session& session,
                                                       Questions questions) const {
  // Nearly always, a transaction changes one reference of an account to a target. In this case the
  // statement only needs to find out whether there is another reference, which costs less than
  // counting.
  Asked single;
  Asked several;
  std::vector<std::int64_t> numbers;
  numbers.reserve(questions.size());
  for (const ReferenceQuestion& question : questions) {
    (question.added + question.removed == 1 ? single : several).push_back(numbers.size());
    numbers.push_back(question.added);
  }
  single = answer_from_rows(session, statements_.own_references(), questions, std::move(single),
                            numbers);
  const auto ask = [&](const Asked& asked, const postgres::Statement& statement,
                       std::int64_t (*last)(const ReferenceQuestion&)) {
    const auto of_question = [&](auto member) {
      return column(asked, [&](std::size_t i) { return std::invoke(member, questions[i]); });
    };
    const auto of_target = [&](auto member) {
      return column(asked, [&](std::size_t i) { return questions[i].target.*member; });
    };
    return session.query<std::int64_t>(statement, of_question(&ReferenceQuestion::actor_id),
                                       of_target(&ReferenceTarget::actor_id),
                                       of_target(&ReferenceTarget::collection_id),
                                       of_target(&ReferenceTarget::rkey), of_question(last));
  };
  if (!single.empty()) {
    for (const std::int64_t place :
         ask(single, statements_.other_references(),
             [](const ReferenceQuestion& question) { return question.rkey; })) {
      numbers[single.at(static_cast<std::size_t>(place))] += 1;
    }
  }
  if (!several.empty()) {
    const std::vector<std::int64_t> counts =
        ask(several, statements_.count_references(),
            [](const ReferenceQuestion& question) { return question.added + 1; });
    for (std::size_t i = 0; i < counts.size(); ++i) numbers[several.at(i)] = counts[i];
  }
  return numbers;
}

}  // namespace skua::writer
