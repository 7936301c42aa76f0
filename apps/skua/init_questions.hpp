#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "init_plan.hpp"

namespace skua::cli {

/// Questions to a person, one line each.
class Questions {
 public:
  Questions(std::istream& in, std::ostream& out) : in_(in), out_(out) {}

  /// Asks until `check` accepts the answer; it throws UsageError with the reason otherwise. An
  /// empty answer is `otherwise`. Throws std::runtime_error at the end of the input.
  std::string ask(const std::string& question, const std::string& otherwise,
                  const std::function<void(const std::string&)>& check);
  /// The same for several words, which blanks or commas separate.
  std::vector<std::string> ask_words(
      const std::string& question, const std::string& otherwise,
      const std::function<void(const std::vector<std::string>&)>& check);
  /// Yes unless the answer begins with n.
  bool confirm(const std::string& question);

  void print(const std::string& text);

 private:
  std::istream& in_;
  std::ostream& out_;
};

/// Asks for everything that the command line and the settings leave open, and adds the answers.
/// Writes nothing.
void complete_by_questions(Questions& questions, Invocation& invocation);

}  // namespace skua::cli
