#pragma once

#include <stdexcept>

namespace skua::lexicon {

/// The error of a lexicon document that a person wrote, as a message for that person: the id of the
/// document, the path of the field, and a message.
class LexiconError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace skua::lexicon
