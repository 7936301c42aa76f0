#include <exception>

#include "base/log.hpp"
#include "base/memory_trimmer.hpp"
#include "command_line.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "progress.hpp"

namespace {

using namespace skua::cli;
namespace command_line = skua::command_line;

int exit_code(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const UsageError& error) {
    print_error(error.what());
    return kUsage;
  } catch (const std::exception& error) {
    // finish() reports output that cannot be written.
    if (!command_line::output_failed()) print_error(error.what());
    return kFailure;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const skua::LogSummaries log_summaries;
  const skua::MemoryTrimmer memory_trimmer;
  return command_line::finish("skua", exit_code(argc, argv));
}
