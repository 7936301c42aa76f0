#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace skua {

/// The result of a function whose failure depends on its input: a value, or an error code with a
/// readable `message()`. A failure of the infrastructure (database, memory) is an exception
/// instead. Each library has one `errc` with its own category.
template <class T>
using Result = boost::system::result<T>;

using ErrorCode = boost::system::error_code;

/// The text of an error, for people.
template <class Errc>
struct ErrorText {
  Errc error;
  const char* message;
};

/// Whether an enum has an enumerator with this value. The compiler prints the name of an
/// enumerator, but prints any other value as a cast.
template <auto Value>
consteval bool is_enumerator() {
  return std::string_view(__PRETTY_FUNCTION__).find("Value = (") == std::string_view::npos;
}

/// Whether a table has all errors of its enum, in the order of their numbers.
template <const auto& Errors>
consteval bool is_complete() {
  using Errc = decltype(Errors[0].error);
  for (std::size_t i = 0; i < Errors.size(); ++i) {
    if (Errors[i].error != static_cast<Errc>(i + 1)) return false;
  }
  return !is_enumerator<static_cast<Errc>(Errors.size() + 1)>();
}

/// The category of an enum whose errors have the numbers 1, 2, ... . `Errors` is the table of their
/// texts: a constexpr array of ErrorText, or of a struct with the same members. Codes compare by
/// the address of their category, so each table has exactly one category, which lives as long as
/// the program. Any thread.
template <const auto& Errors>
class ErrorCategory final : public boost::system::error_category {
 public:
  static_assert(is_complete<Errors>(), "an error of the enum has no text, or another place");

  explicit ErrorCategory(const char* name) : name_(name) {}

  const char* name() const noexcept override { return name_; }
  std::string message(int value) const override {
    const std::size_t index = static_cast<std::size_t>(value) - 1;
    return index < Errors.size() ? Errors[index].message : "unknown error";
  }

 private:
  const char* const name_;
};

/// Whether an exception comes from the machine (memory, threads, files) and not from the input that
/// is being read. After such an exception the input must not be dropped, because the machine would
/// fail again with the next input.
inline bool is_of_machine(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const std::system_error*>(&error) != nullptr;
}

/// Errors in the text of a datetime.
enum class errc {
  datetime_form = 1,      // not YYYY-MM-DDTHH:MM:SS[.fraction](Z|+hh:mm|-hh:mm)
  datetime_out_of_range,  // a month, day, hour, minute or second that does not exist
  datetime_zone,          // -00:00, or an offset that does not exist
  datetime_year,          // in UTC before year 0000 or after 9999
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua

template <>
struct boost::system::is_error_code_enum<skua::errc> : std::true_type {};
