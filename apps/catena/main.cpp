// catena: the command line. Exit codes: 0 done, 1 failed, 2 wrong usage. Errors go to stderr, one
// line each; what was asked for goes to stdout.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "apps/catena/commands.h"
#include "catena/base/text.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

// "; did you mean '--json'?" for a mistyped option or subcommand.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
  const CLI::App* used = &app;
  for (const CLI::App* sub : app.get_subcommands()) used = sub;
  std::vector<std::string> options, commands;
  for (const CLI::Option* option : used->get_options())
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(sub->get_name());
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool option = word.starts_with("--");
    if (!option && used != &app) continue;
    const auto& known = option ? options : commands;
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    std::string hint = catena::did_you_mean(word, known);
    if (!hint.empty()) return hint;
  }
  return "";
}

// What the arguments name is read; a file that is also written would be lost.
void refuse_to_overwrite(int argc, char** argv) {
  namespace fs = std::filesystem;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code failed;
    return !b.empty() && fs::is_regular_file(b, failed) && fs::equivalent(a, b, failed);
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string written;
    for (const char* const option : {"-o", "--output", "--out"}) {
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
  CLI::App app{
      "Catena: dynamics of articulated mechanisms.\n"
      "Reads a mechanism from YAML, URDF or SDF, closed loops included.\n",
      "catena"};
  app.set_version_flag("--version", "catena " CATENA_VERSION, "Print the version and stop");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer(
      "Examples:\n"
      "  catena info models/four_bar.yaml\n"
      "  catena check robot.urdf --strict\n"
      "  catena assemble models/four_bar.sdf --fix A\n"
      "  catena dynamics models/arm6.yaml --what mass-matrix\n"
      "  catena linearize models/double_pendulum.yaml -o plant.json\n"
      "  catena simulate models/four_bar.sdf -o run.h5\n"
      "  catena report run.h5 -o report.html\n"
      "  catena verify\n\n"
      "`catena COMMAND --help` says more. Exit codes: 0 done, 1 failed, 2 wrong usage.");
  catena::app::add_info(app);
  catena::app::add_check(app);
  catena::app::add_convert(app);
  catena::app::add_assemble(app);
  catena::app::add_ik(app);
  catena::app::add_dynamics(app);
  catena::app::add_batch(app);
  catena::app::add_linearize(app);
  catena::app::add_modes(app);
  catena::app::add_equilibrium(app);
  catena::app::add_check_derivatives(app);
  catena::app::add_lyapunov(app);
  catena::app::add_simulate(app);
  catena::app::add_optimize(app);
  catena::app::add_lqr(app);
  catena::app::add_verify(app);
  catena::app::add_report(app);
  catena::app::add_view(app);
  catena::app::add_plot(app);
  catena::app::add_compare(app);
  catena::app::add_events(app);
  refuse_to_overwrite(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    const std::string name =
        app.get_subcommands().empty() ? "catena" : "catena " + app.get_subcommands()[0]->get_name();
    std::fprintf(stderr, "%s: error: %s%s\nRun `%s --help`.\n", name.c_str(), e.what(),
                 suggestion(app, argc, argv).c_str(), name.c_str());
    return kWrongUsage;
  }
  return 0;
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
