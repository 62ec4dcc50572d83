// SPDX-License-Identifier: BSD-3-Clause
// Time-stepping with contact beside MuJoCo (optional; package libmujoco-dev): time per step of the
// quadruped with PD at 1 ms in one run, by turns, and rest poses of drops where they are unique.
//
// MuJoCo's contacts are soft; here as stiff as its step allows (solref 2 ms, solimp 0.999). Its
// joints have kd as implicit damping, like ours. Limits of joints are in both.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>
#include <unistd.h>

#include "catena/io/models/yaml.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

double processor_clock() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Sphere {
  std::string body;
  Vec3d center;
  double radius = 0.0, friction = 0.0;
};

struct Case {
  std::string name;
  std::string model;  // a file, or text behind "catena: 1"
  std::vector<Sphere> spheres = {};
  double kp = 0.0, kd = 0.0;
  std::vector<std::pair<std::string, double>> targets = {};  // of hinges
  double height = 0.0;
  double tilt = 0.0;  // about x and y, at the start
};

std::string text(const std::vector<double>& numbers) {
  std::string s;
  for (const double x : numbers) {
    char word[32];
    std::snprintf(word, sizeof word, "%.12g ", x);
    s += word;
  }
  return s;
}

// The tree below a body as MJCF. Hinges are revolute, frames parallel at q = 0.
std::string mjcf_body(const Description& d, const Case& c, const std::string& name,
                      const Hinge* hinge) {
  const auto body =
      std::find_if(d.bodies.begin(), d.bodies.end(), [&](const Body& b) { return b.name == name; });
  const Vec3d at = hinge != nullptr ? hinge->frame_on_parent.translation : Vec3d{0.0, 0.0, 0.0};
  const SymMat3d& j = body->inertia;
  std::string s =
      "<body name='" + name + "' pos='" + text({at.x, at.y, at.z}) + "'><inertial pos='" +
      text({body->center_of_mass.x, body->center_of_mass.y, body->center_of_mass.z}) + "' mass='" +
      text({body->mass}) + "' fullinertia='" + text({j.xx, j.yy, j.zz, j.xy, j.xz, j.yz}) + "'/>";
  if (hinge == nullptr) {
    s += "<freejoint name='base'/>";
  } else {
    const FreedomSettings f = hinge->freedoms.empty() ? FreedomSettings{} : hinge->freedoms[0];
    const Vec3d axis = hinge->axes.empty() ? Vec3d::unit_z() : hinge->axes[0];
    const double ratio = hinge->drive ? hinge->drive->gear_ratio : 0.0;
    const bool limited = f.lower > -kInfinity && f.upper < kInfinity;
    s += "<joint name='" + hinge->name + "' type='hinge' axis='" + text({axis.x, axis.y, axis.z}) +
         "' damping='" + text({f.damping + c.kd}) + "' frictionloss='" +
         text({f.friction.sliding}) + "' armature='" +
         text({hinge->drive ? ratio * ratio * hinge->drive->rotor_inertia : 0.0}) +
         (limited ? "' limited='true' range='" + text({f.lower, f.upper}) : "") + "'/>";
  }
  for (const Sphere& sphere : c.spheres)
    if (sphere.body == name)
      s += "<geom type='sphere' size='" + text({sphere.radius}) + "' pos='" +
           text({sphere.center.x, sphere.center.y, sphere.center.z}) + "' friction='" +
           text({sphere.friction, 0.0, 0.0}) + "' mass='0' contype='1' conaffinity='2'/>";
  for (const Hinge& h : d.hinges)
    if (h.parent == name) s += mjcf_body(d, c, h.child, &h);
  return s + "</body>";
}

Description description_of(const Case& c) {
  if (c.model.ends_with(".yaml")) return read_yaml(c.model).description;
  return read_yaml_text("catena: 1\n" + c.model, "case.yaml").description;
}

class MuJoCo {
 public:
  MuJoCo(const Description& d, const Case& c) {
    const std::string xml =
        "<mujoco><compiler angle='radian' boundmass='0' boundinertia='0' inertiafromgeom='false'/>"
        "<option timestep='0.001' gravity='" +
        text({d.gravity.x, d.gravity.y, d.gravity.z}) +
        "' cone='elliptic' impratio='100'/><default><geom condim='3' solref='0.002 1' "
        "solimp='0.99 0.999 0.0001'/></default><worldbody><geom type='plane' size='100 100 1' "
        "friction='0 0 0' contype='2' conaffinity='1'/>" +
        mjcf_body(d, c, d.bodies.front().name, nullptr) + "</worldbody></mujoco>";
    char path[] = "/tmp/catena_contactXXXXXX";
    const int file = mkstemp(path);
    if (file < 0 || write(file, xml.data(), xml.size()) != static_cast<ssize_t>(xml.size()))
      std::exit(2);
    close(file);
    char words[1000] = "";
    model_ = mj_loadXML(path, nullptr, words, sizeof words);
    std::remove(path);
    if (model_ == nullptr) {
      std::fprintf(stderr, "MuJoCo: %s\n", words);
      std::exit(2);
    }
    data_ = mj_makeData(model_);
  }
  ~MuJoCo() {
    mj_deleteData(data_);
    mj_deleteModel(model_);
  }
  MuJoCo(const MuJoCo&) = delete;
  MuJoCo& operator=(const MuJoCo&) = delete;

  // Position (m) and quaternion of the base, and the angle of a hinge.
  double* base() { return data_->qpos; }
  double angle(const std::string& hinge) const { return data_->qpos[place(hinge)]; }
  void run(const Case& c, int steps) {
    for (int k = 0; k < steps; ++k) {
      for (const auto& [hinge, target] : c.targets) {
        const int id = mj_name2id(model_, mjOBJ_JOINT, hinge.c_str());
        data_->qfrc_applied[model_->jnt_dofadr[id]] =
            c.kp * (target - data_->qpos[model_->jnt_qposadr[id]]);
      }
      mj_step(model_, data_);
    }
  }

 private:
  int place(const std::string& hinge) const {
    return model_->jnt_qposadr[mj_name2id(model_, mjOBJ_JOINT, hinge.c_str())];
  }
  mjModel* model_ = nullptr;
  mjData* data_ = nullptr;
};

SimulationSettings settings_of(const Mechanism& m, const Case& c, double duration) {
  SimulationSettings s;
  s.duration = duration;
  s.output_interval = duration;
  s.integrator.method = Method::time_stepping;
  s.integrator.step = 1e-3;
  for (std::size_t k = 0; k < c.spheres.size(); ++k) {
    ConstraintSettings contact;
    contact.constraint = ContactSettings{.name = "c" + std::to_string(k),
                                         .body = m.body_index(c.spheres[k].body),
                                         .center = c.spheres[k].center,
                                         .radius = c.spheres[k].radius,
                                         .friction = c.spheres[k].friction};
    s.actions.constraints.push_back(contact);
  }
  for (const auto& [hinge, target] : c.targets)
    s.actions.controllers.push_back(
        {.freedom = hinge, .kp = c.kp, .kd = c.kd, .target = std::to_string(target)});
  return s;
}

State start_of(const Mechanism& m, const Case& c) {
  State s = m.default_state();
  s.q[0] = std::cos(0.5 * c.tilt);
  s.q[1] = std::sin(0.5 * c.tilt);
  s.q[6] = c.height;
  return s;
}

struct Found {
  double ours = 0.0, theirs = 0.0;                  // s of processor time
  double height = 0.0, turned = 0.0, angles = 0.0;  // differences: m, sine, rad
  double depth = 0.0;
};

Found compare(const Case& c, double duration) {
  const Description d = description_of(c);
  const Mechanism m = MechanismBuilder(d).finish();
  const State start = start_of(m, c);
  MemoryRecorder record;
  double before = processor_clock();
  const SimulationResult ours = simulate(m, start, settings_of(m, c, duration), record);
  Found found;
  found.ours = processor_clock() - before;
  MuJoCo theirs(d, c);
  double* base = theirs.base();
  base[2] = c.height;
  base[3] = start.q[0];
  base[4] = start.q[1];
  before = processor_clock();
  theirs.run(c, static_cast<int>(std::lround(duration / 1e-3)));
  found.theirs = processor_clock() - before;
  found.height = std::abs(base[2] - ours.state.q[6]);
  // Downwards as the base sees it, which does not depend on where it is headed.
  const auto down = [](double w, double x, double y, double z, double* out) {
    out[0] = 2.0 * (x * z - w * y);
    out[1] = 2.0 * (y * z + w * x);
    out[2] = 1.0 - 2.0 * (x * x + y * y);
  };
  double a[3], b[3];
  down(ours.state.q[0], ours.state.q[1], ours.state.q[2], ours.state.q[3], a);
  down(base[3], base[4], base[5], base[6], b);
  for (int i = 0; i < 3; ++i) found.turned = std::max(found.turned, std::abs(a[i] - b[i]));
  for (const auto& [hinge, target] : c.targets)
    found.angles = std::max(found.angles,
                            std::abs(theirs.angle(hinge) - ours.state.q[m.position_index(hinge)]));
  return found;
}

Case quadruped() {
  Case c{.name = "quadruped with PD",
         .model = CATENA_SOURCE_DIR "/models/quadruped.yaml",
         .kp = 150.0,
         .kd = 5.0,
         .height = 0.6};
  for (const std::string leg : {"front_left", "front_right", "hind_left", "hind_right"}) {
    c.spheres.push_back({leg + "_shank", {0.0, 0.0, -0.25}, 0.025, 0.7});
    c.targets.emplace_back(leg + "_roll", 0.0);
    c.targets.emplace_back(leg + "_pitch", 0.7);
    c.targets.emplace_back(leg + "_knee", -1.3);
  }
  return c;
}

// Its eight corners are small spheres: MuJoCo's own boxes touch at four points too.
Case box() {
  Case c{.name = "box on its corners",
         .model = "base: free\nbodies: {box: {mass: 2, inertia: [0.02, 0.03, 0.04]}}\n",
         .height = 0.3,
         .tilt = 0.3};
  for (const double x : {-0.2, 0.2})
    for (const double y : {-0.15, 0.15})
      for (const double z : {-0.1, 0.1}) c.spheres.push_back({"box", {x, y, z}, 0.01, 0.5});
  return c;
}

Case two_wheels() {
  Case c{.name = "two-wheeled robot on its head",
         .model = R"(
base: free
bodies:
  chassis: {mass: 5, center_of_mass: [0.02, 0, 0.3], inertia: [0.2, 0.2, 0.05]}
  left: &w {mass: 0.5, inertia: [0.002, 0.0035, 0.002]}
  right: *w
hinges:
  L: {type: revolute, parent: chassis, child: left, axis: y, at: [0, 0.2, 0], damping: 0.2}
  R: {type: revolute, parent: chassis, child: right, axis: y, at: [0, -0.2, 0], damping: 0.2}
)",
         .height = 0.2};
  c.spheres = {
      {"left", {}, 0.12, 0.8}, {"right", {}, 0.12, 0.8}, {"chassis", {0.0, 0.0, 0.75}, 0.1, 0.5}};
  return c;
}

}  // namespace
}  // namespace catena

int main() {
  using namespace catena;
  std::printf("%-32s %12s %12s %8s %12s %10s %10s\n", "", "Catena us", "MuJoCo us", "ratio",
              "height m", "tilt", "joints rad");
  int far = 0;
  for (const Case& c : {quadruped(), box(), two_wheels()}) {
    // By turns, the shortest of five: the machine may be busy.
    const double duration = 20.0, steps = duration / 1e-3;
    Found best = compare(c, duration);
    for (int k = 0; k < 4; ++k) {
      const Found again = compare(c, duration);
      best.ours = std::min(best.ours, again.ours);
      best.theirs = std::min(best.theirs, again.theirs);
    }
    std::printf("%-32s %12.1f %12.1f %8.2f %12.1e %10.1e %10.1e\n", c.name.c_str(),
                1e6 * best.ours / steps, 1e6 * best.theirs / steps, best.theirs / best.ours,
                best.height, best.turned, best.angles);
    far += best.height > 1e-3 || best.turned > 1e-2 ? 1 : 0;
  }
  return far;
}
