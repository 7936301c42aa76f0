#include <algorithm>

#include <fmt/format.h>

#include "command_line/completion.hpp"

namespace skua::command_line {
namespace {

// @P@ is the program, @F@ is its name as part of a function's name.

// bash splits words at '=', which becomes a separate word between option and value.
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

std::optional<std::string> completion_script(std::string_view shell, std::string_view program) {
  if (shell == "bash") return with_name(kBash, program);
  if (shell == "zsh") return with_name(kZsh, program);
  if (shell == "fish") return with_name(kFish, program);
  return std::nullopt;
}

}  // namespace skua::command_line
