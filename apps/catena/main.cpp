// catena: the command line. Exit codes: 0 done, 1 failed, 2 wrong usage. Errors go to stderr, one
// line each; what was asked for goes to stdout.
#include <algorithm>
#include <cstdio>
#include <exception>

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
    const std::string hint = catena::did_you_mean(word, known);
    if (!hint.empty()) return hint;
  }
  return "";
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
