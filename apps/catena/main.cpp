// SPDX-License-Identifier: BSD-3-Clause
// catena: the command line. Exit codes: 0 done, 1 failed, 2 wrong usage. Errors go to stderr, one
// line each; results go to stdout.
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/catena/commands.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

// Files in the arguments are read; one that is also written would be lost.
void refuse_to_overwrite(int argc, char** argv) {
  namespace fs = std::filesystem;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code failed;
    return !b.empty() && fs::is_regular_file(b, failed) && fs::equivalent(a, b, failed);
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string written;
    for (const char* const option : {"-o", "--output"}) {
      if (words[i] == option && i + 1 < words.size()) written = words[i + 1];
      if (words[i].starts_with(std::string(option) + "="))
        written = words[i].substr(words[i].find('=') + 1);
    }
    std::error_code failed;
    if (written.empty() || !fs::is_regular_file(written, failed)) continue;
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (k == i || (k == i + 1 && words[i].find('=') == std::string::npos)) continue;
      // A file may stand behind = and @, and before the name of a column.
      std::string word = words[k];
      bool read = same(written, word);
      if (const auto at = word.find_last_of("=@"); !read && at != std::string::npos) {
        word = word.substr(at + 1);
        read = same(written, word) || same(written, word.substr(0, word.rfind(':')));
      }
      if (read)
        throw catena::app::UsageError("catena: error: " + written +
                                      " is read by this command and would be overwritten; give "
                                      "another name to -o");
    }
  }
}

int run(int argc, char** argv) {
  catena::app::CommandLine line(
      "catena",
      "Catena: dynamics of articulated mechanisms.\n"
      "Reads a mechanism from YAML, URDF or SDF, closed loops included.\n",
      "catena " CATENA_VERSION,
      "Examples:\n"
      "  catena info models/four_bar.yaml\n"
      "  catena check robot.urdf --strict\n"
      "  catena assemble models/four_bar.sdf --fix A\n"
      "  catena dynamics models/arm6.yaml --what mass-matrix\n"
      "  catena linearize models/double_pendulum.yaml -o linear.json\n"
      "  catena simulate models/four_bar.sdf -o run.h5\n"
      "  catena control info models/cart_pendulum.yaml\n"
      "  catena report run.h5 -o report.html\n"
      "  catena verify\n\n"
      "`catena help COMMAND` says more. Exit codes: 0 done, 1 failed, 2 wrong usage.");
  catena::app::add_info(line);
  catena::app::add_check(line);
  catena::app::add_convert(line);
  catena::app::add_assemble(line);
  catena::app::add_ik(line);
  catena::app::add_dynamics(line);
  catena::app::add_batch(line);
  catena::app::add_linearize(line);
  catena::app::add_modes(line);
  catena::app::add_equilibrium(line);
  catena::app::add_check_derivatives(line);
  catena::app::add_lyapunov(line);
  catena::app::add_simulate(line);
  catena::app::add_optimize(line);
  catena::app::add_lqr(line);
  catena::app::add_control(line);
  catena::app::add_verify(line);
  catena::app::add_report(line);
  catena::app::add_view(line);
  catena::app::add_plot(line);
  catena::app::add_compare(line);
  catena::app::add_events(line);
  refuse_to_overwrite(argc, argv);
  return line.run(argc, argv, kWrongUsage);
}

}  // namespace

int main(int argc, char** argv) {
  // A file that may not grow is an error like a full disk, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const catena::app::UsageError& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return kWrongUsage;
  } catch (const catena::app::Failed&) {
    return kFailed;
  } catch (const catena::ModelError& e) {  // one line each, already complete
    std::fprintf(stderr, "%s\n", e.what());
    return kFailed;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "catena: error: %s\n", e.what());
    return kFailed;
  }
}
