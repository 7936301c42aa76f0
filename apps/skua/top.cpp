#include "top.hpp"

#include "pages_origin.hpp"
#include "terminal.hpp"
#include "top/view.hpp"

namespace skua::cli {
namespace {

constexpr const char* kDefaultInterval = "2s";

}  // namespace

int top(const Settings& settings, const TopFlags& flags) {
  TopTarget target;
  target.origin =
      pages_origin(settings.find(kHttp, flags.http).value_or(Found{kDefaultPages, kHttp.flag}));
  if (const auto ca_file = settings.find(kCaFile, flags.ca_file)) target.ca_file = ca_file->value;
  target.every = duration({flags.every.value_or(kDefaultInterval), "--every"},
                          skua::top::View::kShortest, skua::top::View::kLongest);
  return flags.once || !Terminal::is_available() ? print_report(target) : show_screen(target);
}

}  // namespace skua::cli
