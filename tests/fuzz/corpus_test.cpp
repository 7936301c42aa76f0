// The short form of fuzzing: each input of the corpus, and mutations of it. scripts/fuzz is the
// long form.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz/mutate.hpp"
#include "fuzz/target.hpp"
#include "support/shared_data.hpp"
#include "support/test_vectors.hpp"

namespace skua::fuzz::corpus_test {
namespace {

/// Mutations of a target's corpus, all inputs together.
constexpr std::size_t kMutations = 3'000;
/// The same with SKUA_LONG=1.
constexpr std::size_t kLongMutations = 300'000;

std::vector<Bytes> corpus_of(std::string_view target) {
  std::vector<std::filesystem::path> files;
  const auto folder = std::filesystem::path("tests/fuzz/corpus") / target;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> corpus;
  corpus.reserve(files.size());
  for (const auto& file : files) corpus.push_back(test::read_file(file));
  return corpus;
}

class CorpusTest : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    corpus_ = corpus_of(GetParam().name);
    ASSERT_FALSE(corpus_.empty());
  }
  static void run(const Bytes& input) {
    ASSERT_NO_THROW(GetParam().run(input)) << "input: " << test::to_hex(input);
  }

  std::vector<Bytes> corpus_;
};

TEST_P(CorpusTest, each_input_keeps_what_is_promised) {
  for (const Bytes& input : corpus_) {
    run(input);
    if (HasFatalFailure()) return;
  }
}

TEST_P(CorpusTest, each_mutation_keeps_what_is_promised) {
  const std::size_t mutations = std::getenv("SKUA_LONG") != nullptr ? kLongMutations : kMutations;
  std::mt19937_64 random(2026);
  for (std::size_t i = 0; i < mutations; ++i) {
    run(mutate(corpus_[i % corpus_.size()], corpus_, random));
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(, CorpusTest, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace skua::fuzz::corpus_test
