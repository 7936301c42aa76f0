#include "command_line/completion.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "command_line/walk.hpp"

namespace skua::command_line {

namespace {

/// Collects the candidates that start with the word under the cursor.
class Candidates {
 public:
  Candidates(std::string_view beginning, Completion& completion)
      : beginning_(beginning), completion_(completion) {}

  void add(std::string text, const std::string& description) {
    if (!text.starts_with(beginning_)) return;
    completion_.candidates.push_back(
        {std::move(text), description.substr(0, description.find('\n'))});
  }

  void add_commands(const CLI::App& parent) {
    for (const CLI::App* command : visible_commands(parent)) {
      add(command->get_name(), command->get_description());
    }
  }

  void add_options(const Walk& walk) {
    for (const CLI::App* command : walk.scopes()) {
      for (const CLI::Option* option : visible_options(*command)) {
        // Each command has its own --help, so the inherited one is skipped.
        if (option == command->get_help_ptr() && command != &walk.command()) continue;
        for (const std::string& name : option->get_lnames()) {
          add("--" + name, option->get_description());
        }
      }
    }
  }

  void add_known(const KnownValues& known_values, const CLI::App& command,
                 const CLI::Option& argument) {
    if (!known_values) return;
    for (auto& value : known_values(command, argument)) {
      add(std::move(value.text), value.description);
    }
  }

  /// Adds the values that the type of an option lists. `before` is the part of the word that
  /// precedes the value.
  void add_values(std::string_view type, const std::string& before) {
    while (!type.empty()) {
      const std::string_view part = type.substr(0, type.find('|'));
      type.remove_prefix(std::min(type.size(), part.size() + 1));
      if (part == "FILE") {
        completion_.paths = Completion::Paths::Files;
      } else if (part == "FOLDER") {
        completion_.paths = Completion::Paths::Directories;
      } else if (std::islower(static_cast<unsigned char>(part.front())) != 0) {
        add(before + std::string(part), "");
      }
    }
  }

 private:
  const std::string beginning_;
  Completion& completion_;
};

/// Completes the words after `skua help`: commands at each level, and at the first level also the
/// other topics of the help.
void complete_help(const CLI::App& root, std::span<const std::string> words,
                   const KnownValues& known_values, Candidates& candidates) {
  const CLI::App* command = &root;
  for (const std::string& word : words) {
    command = find_command(*command, word);
    if (command == nullptr) return;
  }
  candidates.add_commands(*command);
  Walk walk(root);
  walk.take("help");
  const CLI::Option* const argument = walk.argument();
  if (words.empty() && argument != nullptr) {
    candidates.add_known(known_values, walk.command(), *argument);
  }
}

// In the scripts, @P@ is the program, and @F@ is its name as part of a function's name.

// bash splits words at '=', so that '=' becomes a separate word between option and value.
constexpr std::string_view kBash = R"(# bash completion for @P@
_@F@() {
  local program=${COMP_WORDS[0]/#\~/$HOME} words=() word text i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == '=' ]] || words+=("${COMP_WORDS[i]}")
  done
  [[ ${COMP_WORDS[COMP_CWORD]} == '=' ]] && words+=('')
  COMPREPLY=()
  while IFS=$'\t' read -r text _; do
    case $text in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${words[-1]}")
        ;;
      :directories)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "${words[-1]}")
        ;;
      *) COMPREPLY+=("$text") ;;
    esac
  done < <("$program" completion words -- "${words[@]}" 2>/dev/null)
}
complete -F _@F@ @P@
)";

constexpr std::string_view kZsh = R"(#compdef @P@
# zsh completion for @P@
_@F@() {
  local line
  local -a candidates
  while IFS= read -r line; do
    case $line in
      :files) _files ;;
      :directories) _files -/ ;;
      *) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done < <("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#candidates )) && _describe '@P@' candidates
}
if [[ ${funcstack[1]} == _@F@ ]]; then _@F@ "$@"; else compdef _@F@ @P@; fi
)";

constexpr std::string_view kFish = R"(# fish completion for @P@
function __@F@_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] completion words -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :directories
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c @P@ -f -a '(__@F@_complete)'
)";

std::string with_name(std::string_view script, std::string_view program) {
  std::string function(program);
  std::replace(function.begin(), function.end(), '-', '_');
  std::string text;
  for (std::size_t at = 0; at < script.size();) {
    const std::string_view rest = script.substr(at);
    if (rest.starts_with("@P@")) {
      text += program;
      at += 3;
    } else if (rest.starts_with("@F@")) {
      text += function;
      at += 3;
    } else {
      text += script[at++];
    }
  }
  return text;
}

}  // namespace

Completion complete(const CLI::App& root, std::span<const std::string> words,
                    const KnownValues& known_values) {
  const std::string last = words.empty() ? std::string() : words.back();
  const auto before = words.empty() ? words : words.first(words.size() - 1);
  Completion completion;
  Candidates candidates(last, completion);
  if (!before.empty() && before.front() == "help") {
    complete_help(root, before.subspan(1), known_values, candidates);
    return completion;
  }
  Walk walk(root);
  for (const std::string& word : before) walk.take(word);

  if (const CLI::Option* option = walk.option_with_value()) {
    if (walk.must_be_value() || !last.starts_with('-')) {
      candidates.add_values(option->get_type_name(), "");
    }
    if (walk.must_be_value()) return completion;
  }
  if (walk.takes_options() && last.starts_with('-')) {
    const std::size_t equals = last.find('=');
    if (equals == std::string::npos) {
      candidates.add_options(walk);
    } else if (const CLI::Option* option = walk.find_option(last.substr(0, equals))) {
      candidates.add_values(option->get_type_name(), last.substr(0, equals + 1));
    }
    return completion;
  }
  if (walk.takes_options()) candidates.add_commands(walk.command());
  if (const CLI::Option* argument = walk.argument()) {
    candidates.add_values(argument->get_name(true), "");
    candidates.add_known(known_values, walk.command(), *argument);
  }
  return completion;
}

std::string completion_text(const Completion& completion) {
  std::string text;
  for (const auto& candidate : completion.candidates) {
    text += fmt::format("{}\t{}\n", candidate.text, candidate.description);
  }
  if (completion.paths == Completion::Paths::Files) text += ":files\n";
  if (completion.paths == Completion::Paths::Directories) text += ":directories\n";
  return text;
}

std::optional<std::string> completion_script(std::string_view shell, std::string_view program) {
  if (shell == "bash") return with_name(kBash, program);
  if (shell == "zsh") return with_name(kZsh, program);
  if (shell == "fish") return with_name(kFish, program);
  return std::nullopt;
}

}  // namespace skua::command_line
