// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/info_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/dynamics/forward.h"
#include "catena/model/flexible_body.h"

namespace catena::app {
namespace {

constexpr int kShownRows = 60;  // of a table, unless all are asked for
constexpr int kDeepestIndent = 30;

std::string counted(int n, const std::string& what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

bool moves(const HingePlace& hinge) { return hinge.role != HingePlace::Role::weld; }

int moving_hinges(const Mechanism& m) {
  return static_cast<int>(std::count_if(m.hinges().begin(), m.hinges().end(), moves));
}

std::string body_name(const Mechanism& m, int body) {
  return body < 0 ? kWorld : at(m.bodies(), body).name;
}

// How forward dynamics treats loops: folded into one node of the tree, or by multipliers.
const char* treatment(const Mechanism& m) {
  return prefers_multipliers(m) ? "multipliers" : "embedding";
}

std::string limits_text(const Mechanism& m, const HingePlace& hinge) {
  std::string text;
  for (int k = 0; k < hinge.freedoms; ++k) {
    const FreedomSettings& f = at(m.freedom_settings(), hinge.v_index + k);
    if (std::isinf(f.lower) && std::isinf(f.upper)) continue;
    const std::string& name = at(m.velocity_names(), hinge.v_index + k);
    if (!text.empty()) text += ", ";
    if (hinge.freedoms > 1) text += name.substr(hinge.name.size() + 1) + " ";
    text += fmt::format("{:.5g} to {:.5g}", f.lower, f.upper);
  }
  return text;
}

std::string extras_text(const Mechanism& m, const HingePlace& hinge) {
  std::vector<std::string> words;
  const auto any = [&](auto&& has) {
    for (int k = 0; k < hinge.freedoms; ++k)
      if (has(at(m.freedom_settings(), hinge.v_index + k))) return true;
    return false;
  };
  if (any([](const FreedomSettings& f) { return f.damping != 0.0; })) words.push_back("damping");
  if (any([](const FreedomSettings& f) { return f.stiffness != 0.0; }))
    words.push_back("stiffness");
  if (any([](const FreedomSettings& f) { return f.friction.active(); }))
    words.push_back("friction");
  for (const DrivePlace& drive : m.drives())
    if (at(m.hinges(), drive.hinge).name == hinge.name)
      words.push_back(fmt::format("drive {:.5g}:1", drive.gear_ratio));
  return fmt::format("{}", fmt::join(words, ", "));
}

// Rows of a table, all or the first ones.
std::string shown(Table& table, int rows, int total, int indent) {
  std::string text = table.text(indent);
  if (rows < total)
    text += fmt::format("{:{}}... and {} more (--full shows all)\n", "", indent, total - rows);
  return text;
}

int shown_rows(int total, bool full) {
  return full || total <= kShownRows + 5 ? total : kShownRows;
}

// The spanning tree, body by body, drawn with lines.
std::string tree_text(const Mechanism& m, bool full) {
  struct Branch {
    int body = -1;
    int hinge = -1;
  };
  std::vector<std::vector<Branch>> branches(m.bodies().size() + 1);
  for (int h = 0; h < static_cast<int>(m.hinges().size()); ++h) {
    const HingePlace& hinge = at(m.hinges(), h);
    if (hinge.role == HingePlace::Role::cut) continue;
    at(branches, hinge.parent_body + 1).push_back({hinge.child_body, h});
    at(branches, hinge.child_body + 1).push_back({hinge.parent_body, h});
  }
  struct Open {
    Branch branch;
    std::string prefix;
    bool last = false;
    int depth = 0;
  };
  const int total = static_cast<int>(m.bodies().size());
  const int limit = shown_rows(total, full);
  std::string text = std::string("  ") + kWorld + "\n";
  std::vector<char> seen(m.bodies().size() + 1, 0);
  seen[0] = 1;
  std::vector<Open> open;
  const auto expand = [&](int body, const std::string& prefix, int depth) {
    std::vector<Branch> outer;
    for (const Branch& branch : at(branches, body + 1))
      if (!at(seen, branch.body + 1)) {
        at(seen, branch.body + 1) = 1;
        outer.push_back(branch);
      }
    for (std::size_t i = outer.size(); i-- > 0;)
      open.push_back({outer[i], prefix, i + 1 == outer.size(), depth});
  };
  expand(-1, "  ", 0);
  int rows = 0;
  while (!open.empty()) {
    const Open one = open.back();
    open.pop_back();
    if (++rows > limit) {
      text += fmt::format("  ... and {} more bodies (--full shows all)\n", total - limit);
      break;
    }
    const HingePlace& hinge = at(m.hinges(), one.branch.hinge);
    const std::string type =
        moves(hinge) ? std::string(to_string(hinge.type)) : std::string("rigid");
    text += one.prefix + (one.last ? "└─ " : "├─ ") + body_name(m, one.branch.body) + "   " +
            hinge.name + " (" + type + (hinge.reversed ? ", reversed" : "") + ")\n";
    const bool deep = one.depth >= kDeepestIndent;
    expand(one.branch.body, deep ? one.prefix : one.prefix + (one.last ? "   " : "│  "),
           one.depth + 1);
  }
  return text;
}

// Closed by hinges or rods; couplings alone (gears, mimic joints) close nothing.
bool is_closed_chain(const LoopPlace& loop) {
  return !loop.cut_hinges.empty() || !loop.rods.empty();
}

// The closed chains, or else the sets of bodies that only couplings tie together.
std::string loops_text(const InfoReport& r, bool closed_chains) {
  const Mechanism& m = r.mechanism;
  std::string text;
  int number = 0;
  for (std::size_t i = 0; i < m.loops().size(); ++i) {
    const LoopPlace& loop = m.loops()[i];
    if (is_closed_chain(loop) != closed_chains) continue;
    const LoopMobility& found = r.mobility.loops[i];
    std::vector<std::string> bodies, closed_by;
    for (const int b : loop.bodies) bodies.push_back(body_name(m, b));
    if (bodies.size() > 12) {
      bodies.resize(12);
      bodies.push_back(fmt::format("{} more", loop.bodies.size() - 12));
    }
    for (const int h : loop.cut_hinges)
      closed_by.push_back(
          fmt::format("hinge {} ({})", at(m.hinges(), h).name, to_string(at(m.hinges(), h).type)));
    for (const int rod : loop.rods)
      closed_by.push_back("rod " + at(m.description().rods, rod).name);
    for (const int c : loop.couplings)
      closed_by.push_back("coupling " + at(m.description().couplings, c).name);
    text += fmt::format("  {}. {}\n", ++number, listed(bodies));
    text +=
        (closed_chains ? "     closed by    " : "     tied by      ") + listed(closed_by) + "\n";
    text += fmt::format("     freedoms     {} in the tree\n", found.freedoms);
    text += fmt::format("     constraints  {}", found.constraints);
    if (found.closed)
      text += fmt::format(", {} redundant\n     mobility     {} (freedoms less constraints: {})\n",
                          found.redundant, found.mobility, found.gruebler);
    else
      text += "\n     mobility     not known\n";
    if (found.shaky)
      text += fmt::format(
          "     position     shaky: {} freedoms instantaneously, none over a distance\n",
          found.instantaneous);
    else if (found.singular)
      text += fmt::format(
          "     position     singular: fewer constraints act here than elsewhere, {} freedoms "
          "instantaneously\n",
          found.instantaneous);
  }
  return text;
}

std::string bodies_text(const Mechanism& m, bool full) {
  Table table({{"body"},
               {"mass", true},
               {"centre of mass"},
               {"inertia xx", true},
               {"yy", true},
               {"zz", true}});
  const int total = static_cast<int>(m.bodies().size());
  const int rows = shown_rows(total, full);
  for (int b = 0; b < rows; ++b) {
    const BodyPlace& body = at(m.bodies(), b);
    if (!(body.inertia.mass > 0.0)) {
      table.add({body.name, pretty(body.inertia.mass), "", "", "", ""});
      continue;
    }
    const SymMat3d central = body.inertia.central_inertia();
    table.add({body.name, pretty(body.inertia.mass), pretty(body.inertia.center_of_mass()),
               pretty(central.xx), pretty(central.yy), pretty(central.zz)});
  }
  return shown(table, rows, total, 2);
}

std::string hinges_text(const Mechanism& m, bool full) {
  Table table({{"hinge"},
               {"type"},
               {"parent"},
               {"child"},
               {"freedoms", true},
               {"limits"},
               {"has"},
               {"role"}});
  const int total = static_cast<int>(m.hinges().size());
  const int rows = shown_rows(total, full);
  for (int h = 0; h < rows; ++h) {
    const HingePlace& hinge = at(m.hinges(), h);
    const bool cut = hinge.role == HingePlace::Role::cut;
    table.add(
        {hinge.name, std::string(to_string(hinge.type)), body_name(m, hinge.parent_body),
         body_name(m, hinge.child_body), std::to_string(freedoms_of(at(m.description().hinges, h))),
         limits_text(m, hinge), extras_text(m, hinge),
         cut ? "closes a loop" : (!moves(hinge) && hinge.type != HingeType::weld ? "locked" : "")});
  }
  return shown(table, rows, total, 2);
}

std::string flexible_text(const Mechanism& m, bool full) {
  Table table({{"body"},
               {"mass", true},
               {"modes", true},
               {"lowest", true},
               {"highest", true},
               {"model"},
               {"attachments"}});
  const int total = static_cast<int>(m.flexible_bodies().size());
  const int rows = shown_rows(total, full);
  for (int i = 0; i < rows; ++i) {
    const FlexiblePlace& place = at(m.flexible_bodies(), i);
    const FlexibleBody& body = *place.constants;
    const Eigen::VectorXd frequencies = body.frequencies();
    std::vector<std::string> attachments;
    for (const FlexibleBody::Attachment& a : body.attachments) attachments.push_back(a.name);
    table.add({place.name, pretty(body.mass), std::to_string(body.modes()), pretty(frequencies[0]),
               pretty(frequencies[frequencies.size() - 1]), std::string(to_string(body.model)),
               listed(attachments)});
  }
  return shown(table, rows, total, 2);
}

Json flexible_json(const Mechanism& m) {
  Json list = Json::array();
  for (const FlexiblePlace& place : m.flexible_bodies()) {
    const FlexibleBody& body = *place.constants;
    const Eigen::VectorXd frequencies = body.frequencies();
    Json coordinates = Json::array(), attachments = Json::array();
    for (int k = 1; k <= body.modes(); ++k)
      coordinates.push_back(fmt::format("{}.mode{}", place.name, k));
    for (const FlexibleBody::Attachment& a : body.attachments)
      attachments.push_back(place.name + "." + a.name);
    list.push_back({{"name", place.name},
                    {"mass", body.mass},
                    {"model", to_string(body.model)},
                    {"coordinates", coordinates},
                    {"frequencies", std::vector<double>(frequencies.begin(), frequencies.end())},
                    {"attachments", attachments}});
  }
  return list;
}

}  // namespace

InfoReport make_info_report(const std::string& file, const Mechanism& m) {
  InfoReport report{file, m, analyse_mobility(m, m.default_state().q), {}, {}};
  if (m.total_mass() > 0.0) report.mass = mass_properties(m, m.default_state().q);
  for (const Diagnostic& warning : m.warnings()) report.warnings.push_back(warning.text());
  for (const std::string& warning : report.mobility.warnings)
    report.warnings.push_back(fmt::format("{}: warning: {}", file, warning));
  return report;
}

Json info_json(const InfoReport& r) {
  const Mechanism& m = r.mechanism;
  Json json;
  json["name"] = m.name();
  json["base"] = m.has_free_base() ? "free" : "fixed";
  json["gravity"] = to_json(m.gravity());
  json["bodies"] = m.bodies().size();
  json["hinges"] = moving_hinges(m);
  json["freedoms"] = m.tree_freedoms();
  json["mobility"] = r.mobility.mobility ? Json(*r.mobility.mobility) : Json(nullptr);
  json["loops"] = Json::array();
  json["couplings"] = m.description().couplings.size();
  for (std::size_t i = 0; i < m.loops().size(); ++i) {
    if (!is_closed_chain(m.loops()[i])) continue;
    const LoopMobility& found = r.mobility.loops[i];
    Json loop;
    loop["bodies"] = Json::array();
    for (const int b : m.loops()[i].bodies) loop["bodies"].push_back(body_name(m, b));
    loop["constraints"] = found.constraints;
    loop["redundant"] = found.closed ? Json(found.redundant) : Json(nullptr);
    loop["instantaneous"] = found.closed ? Json(found.instantaneous) : Json(nullptr);
    loop["singular"] = found.singular;
    loop["shaky"] = found.shaky;
    loop["treatment"] = treatment(m);
    json["loops"].push_back(std::move(loop));
  }
  json["total_mass"] = r.mass.mass;
  json["center_of_mass"] = to_json(r.mass.center_of_mass);
  json["inertia"] = to_json(r.mass.inertia);
  if (m.has_flexible_bodies()) json["flexible_bodies"] = flexible_json(m);
  json["warnings"] = r.warnings;
  return json;
}

std::string info_text(const InfoReport& r, bool full) {
  const Mechanism& m = r.mechanism;
  std::string text = m.name() + "   " + r.file + "\n";
  const auto line = [&](const char* what, const std::string& value) {
    text += fmt::format("  {:<16}{}\n", what, value);
  };
  line("base", m.has_free_base() ? "free" : "fixed");
  line("gravity", pretty(m.gravity()) + " m/s²");
  line("bodies", std::to_string(m.bodies().size()));
  const int rigid = static_cast<int>(m.hinges().size()) - moving_hinges(m);
  line("hinges",
       std::to_string(moving_hinges(m)) + (rigid > 0 ? fmt::format(" and {} rigid", rigid) : ""));
  line("freedoms", fmt::format("{}{}", m.tree_freedoms(), m.loops().empty() ? "" : " in the tree"));
  line("mobility", r.mobility.mobility ? std::to_string(*r.mobility.mobility) : "not known");
  if (!m.loops().empty())
    line("loops", fmt::format("{}, {}", m.loops().size(), [&] {
           int constraints = 0;
           for (const LoopPlace& loop : m.loops()) constraints += loop.constraints;
           return counted(constraints, "constraint");
         }()));
  line("total mass", pretty(r.mass.mass) + " kg");
  line("centre of mass", pretty(r.mass.center_of_mass) + " m");
  const SymMat3d& j = r.mass.inertia;
  line("inertia",
       fmt::format("xx {}  yy {}  zz {}  xy {}  xz {}  yz {} kg m²", pretty(j.xx), pretty(j.yy),
                   pretty(j.zz), pretty(j.xy), pretty(j.xz), pretty(j.yz)));
  if (!m.bodies().empty()) {
    text += "\nTree\n" + tree_text(m, full);
    text += "\nBodies (kg, m, kg m²)\n" + bodies_text(m, full);
    text += "\nHinges (rad, m)\n" + hinges_text(m, full);
  }
  if (m.has_flexible_bodies())
    text +=
        "\nFlexible bodies (kg, rad/s; frame clamped, attachments free)\n" + flexible_text(m, full);
  if (const std::string loops = loops_text(r, true); !loops.empty()) text += "\nLoops\n" + loops;
  if (const std::string tied = loops_text(r, false); !tied.empty())
    text += "\nCoupled bodies\n" + tied;
  return text;
}

}  // namespace catena::app
