// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <nlohmann/json.hpp>

#include "catena/simulation/simulate.h"

namespace catena {

std::string to_json(const SimulationResult& r) {
  using Json = nlohmann::ordered_json;
  const auto optional = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
  Json json;
  json["audit"] = {{"energy_drift", r.audit.energy_drift},
                   {"linear_momentum_drift", optional(r.audit.linear_momentum_drift)},
                   {"angular_momentum_drift", optional(r.audit.angular_momentum_drift)},
                   {"closure_residual", r.audit.closure_residual},
                   {"energy_error", r.audit.energy_error},
                   {"energy_scale", r.audit.energy_scale},
                   {"initial_energy", r.audit.initial_energy},
                   {"final_energy", r.audit.final_energy}};
  if (r.audit.contact)
    json["audit"]["contact"] = {{"residual", r.audit.contact->residual},
                                {"penetration", r.audit.contact->penetration},
                                {"creep", r.audit.contact->creep},
                                {"restored", r.audit.contact->restored}};
  for (const FlexibleDomain& d : r.audit.flexible)
    json["audit"]["flexible"][d.body] = {
        {"deflection", d.deflection}, {"rate", d.rate}, {"pivot", d.pivot}};
  json["work"] = Json::object();
  for (const ElementWork& work : r.audit.work) json["work"][work.element] = work.work;
  json["steps"] = {{"accepted", r.steps.steps},
                   {"rejected", r.steps.rejected},
                   {"evaluations", r.steps.evaluations},
                   {"restarts", r.steps.restarts},
                   {"smallest", r.steps.steps > 0 ? Json(r.steps.smallest_step) : Json(nullptr)},
                   {"largest", r.steps.largest_step},
                   {"stiff_since", std::isfinite(r.steps.stiff_since) ? Json(r.steps.stiff_since)
                                                                      : Json(nullptr)}};
  json["events"] = r.events;
  json["rows"] = r.rows;
  json["simulated_time"] = r.simulated_time;
  json["wall_time"] = r.wall_time;
  json["processor_time"] = r.processor_time;
  json["complete"] = r.complete;
  json["end"] = r.end;
  return json.dump();
}

}  // namespace catena
