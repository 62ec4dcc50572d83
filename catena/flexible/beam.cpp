// SPDX-License-Identifier: BSD-3-Clause
#include "catena/flexible/beam.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Geometry>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/flexible/beam_mesh.h"
#include "catena/flexible/damping.h"
#include "catena/flexible/mass_points.h"
#include "catena/flexible/mode_selection.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using ThreeMatrices = std::array<MatrixXd, 3>;

constexpr int kDegree = 12;
// Frequencies have converged when refining changes none by more; the eigensolver itself is right to
// about the square of the ratio of the highest to the lowest frequency times the rounding.
constexpr double kConverged = 1e-9;
// A mesh that has not converged with so many elements (matrices of some 1,700 dofs) never will.
constexpr int kMostElements = 150;
constexpr int kMostModes = 400;
constexpr int kDrawnPoints = 24;

// Circumference factor of Saint-Venant's torsion constant of a rectangle, a ≥ b:
// J = a b³ (1/3 − 64/π⁵ b/a Σ tanh(k π a / 2b) / k⁵), k odd [Timoshenko & Goodier 1970, §109].
double torsion_constant(double a, double b) {
  if (a < b) std::swap(a, b);
  double sum = 0.0;
  for (int k = 1; k < 60; k += 2)
    sum += std::tanh(k * std::numbers::pi * a / (2.0 * b)) / std::pow(k, 5);
  return a * b * b * b * (1.0 / 3.0 - 64.0 / std::pow(std::numbers::pi, 5) * b / a * sum);
}

struct Area {
  double area, about_y, about_z, torsion;
};

Area area_of(const BeamSection& s) {
  const double pi = std::numbers::pi;
  const auto ring = [&](double outer, double inner) {
    const double i = pi / 4.0 * (std::pow(outer, 4) - std::pow(inner, 4));
    return Area{pi * (outer * outer - inner * inner), i, i, 2.0 * i};
  };
  const double w = s.width, h = s.height;
  switch (s.shape) {
    case BeamSection::Shape::circle:
      return ring(s.radius, 0.0);
    case BeamSection::Shape::tube:
      return ring(s.radius, s.inner_radius);
    case BeamSection::Shape::rectangle:
      return {w * h, w * h * h * h / 12.0, h * w * w * w / 12.0, torsion_constant(w, h)};
    default: {  // box; torsion by Bredt: 4 A² t / perimeter of the mid-line
      const double t = s.thickness, wi = w - 2.0 * t, hi = h - 2.0 * t, wm = w - t, hm = h - t;
      return {w * h - wi * hi, (w * h * h * h - wi * hi * hi * hi) / 12.0,
              (h * w * w * w - hi * wi * wi * wi) / 12.0, 2.0 * wm * wm * hm * hm * t / (wm + hm)};
    }
  }
}

// The four ways in which a straight beam deforms. They do not couple.
enum Way { kExtension, kBendingZ, kBendingY, kTorsion };  // kBendingZ: about z, along y
constexpr Way kWays[4] = {kExtension, kBendingZ, kBendingY, kTorsion};
constexpr const char* kWayName[4] = {"EA", "EIz", "EIy", "GJ"};

const std::optional<double>& stiffness_of(const BeamValues& v, Way way) {
  switch (way) {
    case kExtension:
      return v.extension;
    case kBendingZ:
      return v.bending_z;
    case kBendingY:
      return v.bending_y;
    default:
      return v.torsion;
  }
}

class BeamMaker {
 public:
  BeamMaker(const BeamSettings& settings, const std::string& name, const Source& source)
      : s_(settings), name_("beam '" + name + "'"), source_(source) {}

  std::shared_ptr<const FlexibleBody> run() {
    check_settings();
    choose_shapes();
    make_constants();
    std::vector<Diagnostic> found = check_flexible_body(body_, name_, source_);
    if (std::any_of(found.begin(), found.end(),
                    [](const Diagnostic& d) { return d.severity == Severity::error; }))
      throw ModelError(std::move(found));
    return std::make_shared<const FlexibleBody>(std::move(body_));
  }

 private:
  void error(const std::string& text) {
    problems_.push_back({Severity::error, source_, name_ + " " + text});
  }

  bool is_station(double x) const { return x >= 0.0 && x <= s_.length; }

  void check_values(const BeamValues& v, const char* where) {
    const std::string at_end = std::string(" at its ") + where;
    if (!(v.mass_per_length > 0.0) || !std::isfinite(v.mass_per_length))
      error("has mass per length " + number(v.mass_per_length) + at_end + "; it must be positive");
    for (const Way way : kWays)
      if (const auto& k = stiffness_of(v, way); k && !(*k > 0.0 && std::isfinite(*k)))
        error(std::string("has ") + kWayName[way] + " = " + number(*k) + at_end +
              "; it must be positive (leave it out to make the beam rigid in that way)");
    if (!v.extension && !v.bending_y && !v.bending_z && !v.torsion)
      error("has no stiffness at all; give EI, EA or GJ, or make it a rigid body");
    if (v.rotary_x < 0.0 || v.rotary_y < 0.0 || v.rotary_z < 0.0)
      error("has a negative rotary inertia" + at_end);
    if (v.torsion && !(v.rotary_x > 0.0))
      error("has GJ but no polar rotary inertia" + at_end +
            ": nothing would move in torsion; give rho_Ip, or leave GJ out");
  }

  void check_settings() {
    if (!(s_.length > 0.0) || !std::isfinite(s_.length)) {
      error("has length " + number(s_.length) + "; it must be positive");
      throw ModelError(std::move(problems_));
    }
    if (!is_station(s_.clamped_station))
      error("is clamped at station " + number(s_.clamped_station) + " outside the body, 0 to " +
            number(s_.length));
    for (const BeamAttachment& a : s_.attachments)
      if (!is_station(a.station))
        error("has its attachment '" + a.name + "' at station " + number(a.station) +
              " outside the body, 0 to " + number(s_.length) + "; move it onto the beam");
    for (const BeamSection* section : {&s_.section, s_.end_section ? &*s_.end_section : nullptr})
      if (section != nullptr) check_section(*section);
    if (problems_.empty()) {
      check_values(values(0.0), "start");
      if (s_.end_section) check_values(values(s_.length), "end");
    }
    if (s_.end_section && s_.end_section->shape != s_.section.shape)
      error("tapers between two kinds of section; both ends must be of one kind");
    if (s_.modes.count < 0)
      error("asks for a negative number of modes; give 1 or more, or a frequency limit");
    if (s_.modes.count > kMostModes)
      error("asks for " + std::to_string(s_.modes.count) + " modes; at most " +
            std::to_string(kMostModes) +
            " are computed for one beam: its highest modes are no beam "
            "vibrations any more; divide it into several, or ask for fewer");
    for (const double ratio : s_.damping.ratios)
      if (!(ratio >= 0.0))
        error("has damping ratio " + number(ratio) + "; it must not be negative");
    if (!problems_.empty()) throw ModelError(std::move(problems_));
  }

  void check_section(const BeamSection& s) {
    using Shape = BeamSection::Shape;
    if (s.shape == Shape::values) return;
    if (!s_.material)
      error("has a section by shape but no material; give E, G (or nu) and density");
    const bool round = s.shape == Shape::circle || s.shape == Shape::tube;
    if (round && !(s.radius > 0.0)) error("has a section of radius " + number(s.radius));
    if (s.shape == Shape::tube && !(s.inner_radius >= 0.0 && s.inner_radius < s.radius))
      error("has a tube whose inner radius is not between 0 and the outer one");
    if (!round && !(s.width > 0.0 && s.height > 0.0))
      error("has a section of width " + number(s.width) + " and height " + number(s.height));
    if (s.shape == Shape::box &&
        !(s.thickness > 0.0 && 2.0 * s.thickness <= std::min(s.width, s.height)))
      error("has a box whose wall is not between 0 and half its width");
  }

  // Section values at a station; dimensions (or values) are linear along a taper.
  BeamValues values(double x) const {
    if (!s_.end_section) return beam_values(s_.section, s_.material);
    const double f = x / s_.length;
    const auto mix = [&](double a, double b) { return (1.0 - f) * a + f * b; };
    const auto mix_optional = [&](const std::optional<double>& a, const std::optional<double>& b) {
      return a && b ? std::optional<double>(mix(*a, *b)) : std::nullopt;
    };
    const BeamSection &a = s_.section, &b = *s_.end_section;
    BeamSection m = a;
    m.radius = mix(a.radius, b.radius);
    m.inner_radius = mix(a.inner_radius, b.inner_radius);
    m.width = mix(a.width, b.width);
    m.height = mix(a.height, b.height);
    m.thickness = mix(a.thickness, b.thickness);
    m.values.extension = mix_optional(a.values.extension, b.values.extension);
    m.values.bending_y = mix_optional(a.values.bending_y, b.values.bending_y);
    m.values.bending_z = mix_optional(a.values.bending_z, b.values.bending_z);
    m.values.torsion = mix_optional(a.values.torsion, b.values.torsion);
    m.values.mass_per_length = mix(a.values.mass_per_length, b.values.mass_per_length);
    m.values.rotary_x = mix(a.values.rotary_x, b.values.rotary_x);
    m.values.rotary_y = mix(a.values.rotary_y, b.values.rotary_y);
    m.values.rotary_z = mix(a.values.rotary_z, b.values.rotary_z);
    return beam_values(m, s_.material);
  }

  // Nodes at the ends, the clamped station and the attachments, and evenly in between.
  void make_mesh(int elements) {
    std::vector<double> stations{0.0, s_.length, s_.clamped_station};
    for (const BeamAttachment& a : s_.attachments) stations.push_back(a.station);
    std::sort(stations.begin(), stations.end());
    nodes_ = {0.0};
    for (const double x : stations) {
      const double from = nodes_.back(), gap = x - from;
      if (gap <= 1e-9 * s_.length) continue;  // the same station
      const int parts = std::max(1, static_cast<int>(std::ceil(elements * gap / s_.length - 1e-6)));
      for (int i = 1; i < parts; ++i) nodes_.push_back(from + gap * i / parts);
      nodes_.push_back(x);
    }
    clamped_ = node_at(s_.clamped_station);
    fields_.clear();
    for (const Way way : kWays)
      fields_.emplace_back(nodes_, kDegree, way == kBendingY || way == kBendingZ, clamped_);
  }

  int node_at(double station) const {
    const auto near = std::min_element(nodes_.begin(), nodes_.end(), [&](double a, double b) {
      return std::abs(a - station) < std::abs(b - station);
    });
    return static_cast<int>(near - nodes_.begin());
  }

  int elements() const { return static_cast<int>(nodes_.size()) - 1; }
  double element_length(int e) const { return at(nodes_, e + 1) - at(nodes_, e); }

  bool deforms(Way way) const { return stiffness_of(values(0.0), way).has_value(); }

  // Mass per length of the field and of its slope.
  static std::pair<double, double> inertia_of(const BeamValues& v, Way way) {
    switch (way) {
      case kExtension:
        return {v.mass_per_length, 0.0};
      case kBendingZ:
        return {v.mass_per_length, v.rotary_z};
      case kBendingY:
        return {v.mass_per_length, v.rotary_y};
      default:
        return {v.rotary_x, 0.0};
    }
  }

  ElasticProblem assemble(Way way) const {
    const BeamField& field = at(fields_, way);
    const int n = field.dofs();
    const bool bending = way == kBendingY || way == kBendingZ;
    ElasticProblem p{MatrixXd::Zero(n, n), MatrixXd::Zero(n, n), MatrixXd::Zero(n, n), {}};
    for (int e = 0; e < elements(); ++e)
      for (int g = 0; g < rule_.points.size(); ++g) {
        const BeamField::Local f = field.evaluate(e, rule_.points[g]);
        const double weight = 0.5 * element_length(e) * rule_.weights[g];
        const BeamValues v = values(station(e, g));
        const auto [own, slope] = inertia_of(v, way);
        const double stiffness = *stiffness_of(v, way);
        const int strain = bending ? 2 : 1;
        for (std::size_t i = 0; i < f.dofs.size(); ++i)
          for (std::size_t j = 0; j < f.dofs.size(); ++j) {
            const auto a = f.columns.col(static_cast<Eigen::Index>(i));
            const auto b = f.columns.col(static_cast<Eigen::Index>(j));
            p.mass(f.dofs[i], f.dofs[j]) += weight * (own * a[0] * b[0] + slope * a[1] * b[1]);
            p.stiffness(f.dofs[i], f.dofs[j]) += weight * stiffness * a[strain] * b[strain];
          }
      }
    std::vector<int> rows;
    for (const BeamAttachment& a : s_.attachments) {
      const int node = node_at(a.station), value = field.value_dof(node);
      if (value < 0) continue;
      rows.push_back(value);
      p.load_mass(value, value) += way == kTorsion ? a.load_inertia.x : a.load_mass;
      if (!bending) continue;
      rows.push_back(field.slope_dof(node));
      p.load_mass(rows.back(), rows.back()) +=
          way == kBendingZ ? a.load_inertia.z : a.load_inertia.y;
    }
    std::sort(rows.begin(), rows.end());  // attachments at one station share its dofs
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    p.interface.setZero(static_cast<Eigen::Index>(rows.size()), n);
    for (std::size_t i = 0; i < rows.size(); ++i)
      p.interface(static_cast<Eigen::Index>(i), rows[i]) = 1.0;
    return p;
  }

  double station(int e, int g) const {
    return at(nodes_, e) + 0.5 * element_length(e) * (1.0 + rule_.points[g]);
  }

  std::vector<SelectedShape> shapes_with(int elements) {
    make_mesh(elements);
    std::vector<ElasticProblem> problems;
    ways_.clear();
    for (const Way way : kWays)
      if (deforms(way)) {
        problems.push_back(assemble(way));
        ways_.push_back(way);
      }
    return select_shapes(problems, s_.modes);
  }

  // Refines the mesh until no frequency changes any more. Two to three modes to an element are
  // resolved to nine digits by its degree.
  void choose_shapes() {
    try {
      // Most modes are of the two bending ways.
      int elements = 1 + s_.modes.count / (deforms(kBendingY) && deforms(kBendingZ) ? 8 : 4);
      shapes_ = shapes_with(elements);
      while (elements < kMostElements) {
        elements = std::max(elements + 1, elements * 3 / 2);
        std::vector<SelectedShape> finer = shapes_with(elements);
        bool converged = finer.size() == shapes_.size();
        for (std::size_t k = 0; converged && k < finer.size(); ++k)
          converged = std::abs(finer[k].frequency - shapes_[k].frequency) <=
                      kConverged * finer[k].frequency;
        shapes_ = std::move(finer);
        if (converged) break;
      }
    } catch (const NumericalError& e) {
      throw ModelError({{Severity::error, source_, name_ + " " + e.what()}});
    }
  }

  // Values, slopes and strains of all modes at a place of the beam, in beam axes.
  struct Place {
    MatrixXd shape, turn, turn_rate;  // r1, θ, θ′: 3×n
    Eigen::RowVectorXd strain;        // ε
  };

  Place place(int e, double xi) const {
    const int n = static_cast<int>(shapes_.size());
    Place p{MatrixXd::Zero(3, n), MatrixXd::Zero(3, n), MatrixXd::Zero(3, n),
            Eigen::RowVectorXd::Zero(n)};
    std::array<BeamField::Local, 4> f;
    for (const Way way : ways_) at(f, way) = at(fields_, way).evaluate(e, xi);
    for (int k = 0; k < n; ++k) {
      const SelectedShape& s = at(shapes_, k);
      const Way way = at(ways_, s.problem);
      const Vector3d d = at(f, way).times(s.vector);
      switch (way) {
        case kExtension:
          p.shape(0, k) = d[0];
          p.strain[k] = d[1];
          break;
        case kBendingZ:
          p.shape(1, k) = d[0];
          p.turn(2, k) = d[1];
          p.turn_rate(2, k) = d[2];
          break;
        case kBendingY:
          p.shape(2, k) = d[0];
          p.turn(1, k) = -d[1];
          p.turn_rate(1, k) = -d[2];
          break;
        case kTorsion:
          p.turn(0, k) = d[0];
          p.turn_rate(0, k) = d[1];
      }
    }
    return p;
  }

  // Scales the shapes to the mass of the body, with positive strain at the clamped station.
  void normalize() {
    double mass = 0.0;
    for (int e = 0; e < elements(); ++e)
      for (int g = 0; g < rule_.points.size(); ++g)
        mass += 0.5 * element_length(e) * rule_.weights[g] * values(station(e, g)).mass_per_length;
    const bool forward = clamped_ < elements();
    const int e = forward ? clamped_ : clamped_ - 1;
    const Place p = place(e, forward ? -1.0 : 1.0);
    for (int k = 0; k < static_cast<int>(shapes_.size()); ++k) {
      const Vector3d rate = p.turn_rate.col(k);
      const double strain = p.strain[k] + rate.x() - rate.y() + rate.z();  // one of them is not 0
      at(shapes_, k).vector *= std::sqrt(mass) * (strain < 0.0 ? -1.0 : 1.0);
    }
  }

  // d/dx of the rotation and displacement of second order; the former of which is `turn2`.
  static Vector3d turn_rate_2(const Place& p, int k, int l) {
    const Vector3d a = p.turn.col(k), b = p.turn.col(l);
    const Vector3d da = p.turn_rate.col(k), db = p.turn_rate.col(l);
    return 0.5 * (a.cross(db) + b.cross(da));
  }
  static Vector3d shape_rate_2(const Place& p, const Vector3d& turn2, int k, int l) {
    const Vector3d e1 = Vector3d::UnitX(), a = p.turn.col(k), b = p.turn.col(l);
    return turn2.cross(e1) + 0.5 * (a.cross(b.cross(e1)) + b.cross(a.cross(e1))) +
           p.strain[k] * b.cross(e1) + p.strain[l] * a.cross(e1);
  }

  // The terms of second order at the Gauss points of an element and at its far end, from those at
  // its near end (`from`), outward from the clamped station.
  struct SecondOrder {
    ThreeMatrices turn, shape;
  };
  SecondOrder zero_second_order() const {
    const auto n = static_cast<Eigen::Index>(shapes_.size());
    SecondOrder z;
    for (int c = 0; c < 3; ++c) at(z.turn, c) = at(z.shape, c) = MatrixXd::Zero(n, n);
    return z;
  }

  SecondOrder integrate(int e, const std::vector<Place>& places, const SecondOrder& from,
                        std::vector<SecondOrder>& inside) const {
    const int points = static_cast<int>(places.size()), n = static_cast<int>(shapes_.size());
    const bool forward = e >= clamped_;
    const double half = 0.5 * element_length(e);
    const Eigen::RowVectorXd whole = (forward ? 1.0 : -1.0) * half * rule_.weights.transpose();
    MatrixXd running = half * rule_.running;
    if (!forward) running.rowwise() -= half * rule_.weights.transpose();
    SecondOrder end = from;
    inside.assign(index(points), from);
    if (s_.model == FlexibleModel::inconsistent) return end;
    MatrixXd rate(points, 3);
    Eigen::VectorXd within(points);
    for (int k = 0; k < n; ++k)
      for (int l = 0; l <= k; ++l) {
        const auto add = [&](ThreeMatrices SecondOrder::*what) {
          for (int c = 0; c < 3; ++c) {
            if (rate.col(c).isZero(0.0)) continue;  // most ways do not meet
            within.noalias() = running * rate.col(c);
            const double all = whole * rate.col(c);
            for (int g = 0; g < points; ++g) {
              MatrixXd& b = at(at(inside, g).*what, c);
              b(k, l) += within[g];
              b(l, k) = b(k, l);
            }
            MatrixXd& b = at(end.*what, c);
            b(k, l) += all;
            b(l, k) = b(k, l);
          }
        };
        for (int g = 0; g < points; ++g) rate.row(g) = turn_rate_2(at(places, g), k, l).transpose();
        add(&SecondOrder::turn);
        for (int g = 0; g < points; ++g) {
          const ThreeMatrices& t = at(inside, g).turn;
          const Vector3d turn2(t[0](k, l), t[1](k, l), t[2](k, l));
          rate.row(g) = shape_rate_2(at(places, g), turn2, k, l).transpose();
        }
        add(&SecondOrder::shape);
      }
    return end;
  }

  ThreeMatrices turned(const ThreeMatrices& b) const {
    ThreeMatrices r;
    for (int i = 0; i < 3; ++i) {
      at(r, i) = pose_rotation_(i, 0) * b[0];
      for (int j = 1; j < 3; ++j) at(r, i) += pose_rotation_(i, j) * at(b, j);
    }
    return r;
  }

  void add_element(int e, const std::vector<Place>& places,
                   const std::vector<SecondOrder>& second) {
    for (int g = 0; g < static_cast<int>(places.size()); ++g) {
      const Place& p = at(places, g);
      const double weight = 0.5 * element_length(e) * rule_.weights[g];
      const BeamValues v = values(station(e, g));
      MassPoint point;
      point.mass = weight * v.mass_per_length;
      const Vector3d rotary = weight * Vector3d(v.rotary_x, v.rotary_y, v.rotary_z);
      point.inertia = pose_rotation_ * rotary.asDiagonal() * pose_rotation_.transpose();
      point.position = to_eigen(s_.pose * Vec3d{station(e, g), 0.0, 0.0});
      point.shape = pose_rotation_ * p.shape;
      point.slope = pose_rotation_ * p.turn;
      point.second_shape = turned(at(second, g).shape);
      point.second_slope = turned(at(second, g).turn);
      add_mass_point(body_, point);
    }
  }

  void add_attachments(int node, const SecondOrder& second) {
    for (std::size_t i = 0; i < s_.attachments.size(); ++i) {
      const BeamAttachment& a = s_.attachments[i];
      if (node_at(a.station) != node) continue;
      const Place p = node > 0 ? place(node - 1, 1.0) : place(0, -1.0);
      FlexibleBody::Attachment& out = body_.attachments[i];
      out.name = a.name;
      out.rotation = s_.pose.rotation;
      out.position = s_.pose * Vec3d{a.station, 0.0, 0.0};
      out.shape = pose_rotation_ * p.shape;
      out.slope = p.turn;  // attachment axes at rest are the beam's
      out.second_shape = turned(second.shape);
      out.second_slope = second.turn;
    }
  }

  void make_constants() {
    normalize();
    const int n = static_cast<int>(shapes_.size());
    start_constants(body_, n);
    body_.attachments.resize(s_.attachments.size());
    body_.model = s_.model;
    body_.completion = s_.completion;
    body_.size = s_.length;
    body_.beam = std::make_shared<const BeamSettings>(s_);
    add_attachments(clamped_, zero_second_order());
    const auto walk = [&](int first, int end, int step) {
      SecondOrder carried = zero_second_order();
      for (int e = first; e != end; e += step) {
        std::vector<Place> places;
        for (int g = 0; g < rule_.points.size(); ++g) places.push_back(place(e, rule_.points[g]));
        std::vector<SecondOrder> inside;
        carried = integrate(e, places, carried, inside);
        add_element(e, places, inside);
        add_attachments(step > 0 ? e + 1 : e, carried);
      }
    };
    walk(clamped_, elements(), 1);
    walk(clamped_ - 1, -1, -1);
    add_stiffness();
    for (int i = 0; i <= kDrawnPoints; ++i) {
      const double x = s_.length * i / kDrawnPoints;
      int e = 0;
      while (e + 1 < elements() && at(nodes_, e + 1) < x) ++e;
      const double xi = 2.0 * (x - at(nodes_, e)) / element_length(e) - 1.0;
      body_.drawn_points.push_back(
          {s_.pose * Vec3d{x, 0.0, 0.0}, pose_rotation_ * place(e, xi).shape});
    }
  }

  void add_stiffness() {
    const int n = body_.modes();
    body_.stiffness.setZero(n, n);
    Eigen::VectorXd frequencies(n);
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      const MatrixXd k = assemble(ways_[i]).stiffness;
      FlexibleBody::StiffnessPart part{kWayName[ways_[i]], MatrixXd::Zero(n, n),
                                       *stiffness_of(values(s_.clamped_station), ways_[i])};
      for (int a = 0; a < n; ++a)
        for (int b = 0; b <= a; ++b) {
          const SelectedShape &sa = at(shapes_, a), &sb = at(shapes_, b);
          if (sa.problem != static_cast<int>(i) || sb.problem != static_cast<int>(i)) continue;
          part.matrix(a, b) = part.matrix(b, a) = sa.vector.dot(k * sb.vector);
        }
      body_.stiffness += part.matrix;
      body_.stiffness_parts.push_back(std::move(part));
    }
    for (int k = 0; k < n; ++k) frequencies[k] = at(shapes_, k).frequency;
    body_.damping = modal_damping(s_.damping, frequencies, body_.modal_mass, body_.stiffness);
  }

  const BeamSettings& s_;
  std::string name_;
  Source source_;
  std::vector<Diagnostic> problems_;
  // Twice the degree and two more: products of two shapes are integrated exactly, also their
  // running integrals.
  GaussRule rule_ = gauss_rule(2 * kDegree + 2);
  std::vector<double> nodes_;
  int clamped_ = 0;
  std::vector<BeamField> fields_;  // by Way
  std::vector<Way> ways_;          // that deform, by problem
  std::vector<SelectedShape> shapes_;
  Eigen::Matrix3d pose_rotation_ = to_eigen(s_.pose.rotation);
  FlexibleBody body_;
};

}  // namespace

BeamValues beam_values(const BeamSection& section, const std::optional<BeamMaterial>& material) {
  if (section.shape == BeamSection::Shape::values) return section.values;
  const Area a = area_of(section);
  const BeamMaterial m = material.value_or(BeamMaterial{});
  BeamValues v;
  v.extension = m.youngs_modulus * a.area;
  v.bending_y = m.youngs_modulus * a.about_y;
  v.bending_z = m.youngs_modulus * a.about_z;
  v.torsion = m.shear_modulus * a.torsion;
  v.mass_per_length = m.density * a.area;
  v.rotary_y = m.density * a.about_y;
  v.rotary_z = m.density * a.about_z;
  v.rotary_x = v.rotary_y + v.rotary_z;
  return v;
}

std::shared_ptr<const FlexibleBody> make_beam(const BeamSettings& settings, const std::string& name,
                                              const Source& source) {
  return BeamMaker(settings, name, source).run();
}

}  // namespace catena
