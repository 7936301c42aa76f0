#include "writer/tables/keyed_table.hpp"

namespace skua::writer {

using store::Array;

std::vector<std::int64_t> KeyedTable::count_references(
    store::Session& session, std::span<const ReferenceQuestion> questions) const {
  // Nearly always a transaction changes one reference of an account to a target. Then it suffices
  // to know whether there is another one, which costs less than counting.
  std::vector<std::size_t> single;
  std::vector<std::size_t> several;
  std::vector<std::int64_t> numbers;
  numbers.reserve(questions.size());
  for (const ReferenceQuestion& question : questions) {
    (question.added + question.removed == 1 ? single : several).push_back(numbers.size());
    numbers.push_back(question.added);
  }
  const auto ask = [&](const std::vector<std::size_t>& asked, const store::Statement& statement,
                       std::int64_t (*last)(const ReferenceQuestion&)) {
    Array actors(Array::Type::int8);
    Array ref_actors(Array::Type::int8);
    Array ref_collections(Array::Type::int4);
    Array ref_rkeys(Array::Type::int8);
    Array lasts(Array::Type::int8);
    for (const std::size_t index : asked) {
      const ReferenceQuestion& question = questions[index];
      actors.int8(question.actor_id);
      ref_actors.int8(question.target.actor_id);
      ref_collections.int4(question.target.collection_id);
      ref_rkeys.int8(question.target.rkey);
      lasts.int8(last(question));
    }
    store::Params params;
    params.array(actors).array(ref_actors).array(ref_collections).array(ref_rkeys).array(lasts);
    return session.execute(statement, params);
  };
  if (!single.empty()) {
    const store::Rows others = ask(single, statements_.other_references(),
                                   [](const ReferenceQuestion& question) { return question.rkey; });
    for (std::size_t i = 0; i < others.size(); ++i) {
      numbers[single.at(static_cast<std::size_t>(others.int8(i, 0)))] += 1;
    }
  }
  if (!several.empty()) {
    const store::Rows counts =
        ask(several, statements_.count_references(),
            [](const ReferenceQuestion& question) { return question.added + 1; });
    for (std::size_t i = 0; i < counts.size(); ++i) numbers[several.at(i)] = counts.int8(i, 0);
  }
  return numbers;
}

}  // namespace skua::writer
