#include <functional>

#include "writer/tables/keyed_table.hpp"

namespace skua::writer {

using postgres::column;
using tables::ReferenceTarget;

std::vector<std::int64_t> KeyedTable::count_references(
    postgres::Session& session, std::span<const ReferenceQuestion> questions) const {
  // Nearly always, a transaction changes one reference of an account to a target. In this case the
  // statement only needs to find out whether there is another reference, which costs less than
  // counting.
  std::vector<std::size_t> single;
  std::vector<std::size_t> several;
  std::vector<std::int64_t> numbers;
  numbers.reserve(questions.size());
  for (const ReferenceQuestion& question : questions) {
    (question.added + question.removed == 1 ? single : several).push_back(numbers.size());
    numbers.push_back(question.added);
  }
  const auto ask = [&](const std::vector<std::size_t>& asked, const postgres::Statement& statement,
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
