// SPDX-License-Identifier: BSD-3-Clause
// Constraints that are switched while a mechanism moves, without rebuilding it: attachments of two
// frames (grasp, latch, release), locks of degrees of freedom, points or spheres that touch a plane
// (unilateral contact with Coulomb friction), servo constraints.
//
//   ConstraintSet set(robot);
//   const int grip = set.add(AttachmentSettings{.name = "grip", .body_a = hand, .body_b = box});
//   set.activate(grip, state);                                    // part of the dynamics
//
// They stand beside the mechanism's own loops in one set of Lagrange multipliers
// (dynamics/multipliers/multiplier_dynamics.h),
//
//   M v̇ + C = effort + Jᵀ λ,    J v̇ + J̇ v = 0,
//
// so redundant ones do no harm and contradictory ones are named. When constraints are switched on,
// the velocities jump by the impulse that brings all active rows to rest:
//
//   M Δv = Jᵀ Λ,  J (v + Δv) = target,   energy lost ½ Δvᵀ M Δv   (Carnot; impulses.h for freedoms)
//
// A contact is apart, slides (one row, Coulomb's friction μ N against the slip pushes with it) or
// sticks (three rows, as long as friction stays within the cone). A sphere that sticks rolls. Where
// contacts are redundant (four feet of a table), some may be carried: they touch, and the others
// bear the load.
//
// Contacts that touch together act on each other, so impacts and modes are found for all of them at
// once (contact_problem.h): collide() and choose_modes(). The simulation decides when that happens
// (simulation/nonsmooth/switching.h); in its settings constraints are `actions.constraints`.
//
// Cost: O(N) for the tree and the cube of the active rows. References: [Rodriguez, Jain & Kreutz
// 1989], steps A to F, for the multipliers; [Brogliato 2016] for impacts and friction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/closure/singular_passage.h"
#include "catena/constraints/contact_problem.h"
#include "catena/constraints/servo.h"
#include "catena/dynamics/multipliers/multiplier_dynamics.h"

namespace catena {

// Bodies by index, −1: the ground.
struct AttachmentSettings {
  std::string name;
  int body_a = -1;
  int body_b = -1;
  Transformd frame_a{};  // X_body_frame
  Transformd frame_b{};
  HingeType type = HingeType::weld;  // what it leaves free
  Vec3d axis{0.0, 0.0, 1.0};         // of that, in frame_a
  bool as_it_is = false;             // frame_b is set whenever it is switched on
};

struct LockSettings {
  std::string name;
  int freedom = -1;
  bool nonsmooth = false;  // of a stop or dry friction
};

// A sphere (radius 0: a point) of a body above a plane that is fixed in another; with a rim, the
// sphere that runs round a circle, at its point nearest to the plane: a wheel or disc whose edge
// has this radius. Boxes and capsules are several of these (contact_shapes.h).
struct ContactSettings {
  std::string name;
  int body = -1;
  Vec3d center{};  // in the body's frame
  double radius = 0.0;
  double rim = 0.0;               // radius of the circle about `center`
  Vec3d rim_axis{0.0, 1.0, 0.0};  // its axis, in the body's frame
  int plane_body = -1;
  Vec3d plane_point{};  // in the frame of the plane's body
  Vec3d plane_normal{0.0, 0.0, 1.0};
  // If positive: in place of the plane a sphere of this radius about plane_point. Without a rim.
  double plane_radius = 0.0;
  double friction = 0.0;
  double restitution = 0.0;
};

enum class ContactMode { apart, sliding, sticking, carried };

// Events of contacts, stops or dry friction cannot go on: the simulation goes on by time-stepping.
class NonsmoothError : public NumericalError {
 public:
  explicit NonsmoothError(const std::string& what) : NumericalError(what) {}
};
// Contacts that touch have no accelerations that obey their laws, see choose_modes().
class UnsolvedContacts : public NonsmoothError {
 public:
  explicit UnsolvedContacts(const std::string& what) : NonsmoothError(what) {}
};

class ConstraintSet {
 public:
  explicit ConstraintSet(const Mechanism& mechanism);

  // Not active yet (contacts: apart). They return their number. A name that exists is an error.
  int add(const AttachmentSettings& settings);
  int add(const LockSettings& settings);
  int add(const ContactSettings& settings);
  int add(const ServoSettings& settings);

  // Without slots.
  int count() const { return fixed_; }
  const std::string& name(int i) const { return at(i).name; }
  int find(std::string_view name) const;  // NameError with the nearest
  enum class Kind { attachment, lock, contact, servo };
  Kind kind(int i) const { return at(i).kind; }
  bool active(int i) const;
  bool any_active() const;

  // ---- Slots: contacts whose bodies and places change (shapes against each other). ----
  // They are numbered from count() on, after everything else was added, and nothing is saved of
  // them. One that is added or released has no place yet.
  int add_slot();
  int total() const { return static_cast<int>(things_.size()); }  // with slots
  // Takes effect at once; the mode stays.
  void move_contact(int slot, const ContactSettings& settings);
  // Axes (two tangents, normal) along which its forces are, in the ground's frame, after look().
  Rotationd contact_axes(int contact) const;

  // ---- Switching. The state is not touched; see impulse() and close(). ----
  // `state` matters to attachments that are taken as they are.
  void activate(int i, const State& state);
  // Only the row of a lock, which holds no position: for forces at a freedom that are found.
  void activate_row(int lock);
  void release(int i);
  // The motion that a lock imposes: velocity and acceleration, and the coordinate if it has one.
  void set_lock(int i, double position, double velocity, double acceleration);
  void set_target(int servo, const ServoTarget& target);
  // The direction matters where it hardly slips: friction is −μ N times it. One shorter than 1 is
  // friction within the cone at a contact that others keep from slipping.
  void set_mode(int i, ContactMode mode, const Vec3d& slip_direction = {});
  // Among redundant contacts that stick, friction has the least Σ weight |friction|²: a contact
  // with a larger weight takes less of what others could hold as well. set_mode() makes it 1.
  void weigh_friction(int i, double weight);
  // Closed: with rows of its own.
  bool closed(int contact) const {
    return mode(contact) == ContactMode::sliding || mode(contact) == ContactMode::sticking;
  }
  const Vec3d& slip_direction(int contact) const { return at(contact).direction; }
  // Slides with all its friction, or without any.
  bool slips(int contact) const;

  // ---- Dynamics. ----
  MultiplierDynamics& dynamics() { return dynamics_; }
  // With the active constraints and the mechanism's loops. Throws NumericalError, naming them, if
  // constraints contradict each other or actuators cannot enforce a servo's motion.
  // `ahead`: with locks and servos of points as they will be after that time, from their velocities
  // (servos of orientations hold none), at a state beside a singular position.
  const Eigen::VectorXd& forward(const State& state, const Eigen::VectorXd& effort,
                                 std::span<const ExternalWrench> external = {}, double ahead = 0.0);
  Workspace& workspace() { return workspace_; }

  struct Jump {
    Eigen::VectorXd velocity;          // after
    double energy_change = 0.0;        // by the work of the impulses
    std::vector<double> contact_work;  // of it, of each contact that was given
  };
  // Velocities that satisfy everything active. Contacts that are closed can only push.
  Jump impulse(const State& state);
  // The same with rows only: contacts that are closed also pull. For velocities that are slow.
  Jump settle(const State& state);
  // An impact of contacts that touch: after it each either has the normal velocity −e times what it
  // approached with (0 if it did not) and an impulse that pushes, or more and none; friction
  // impulses obey Coulomb's law with the slip after the impact. Modes are not changed.
  Jump collide(const State& state, std::span<const int> contacts,
               std::span<const double> restitution);
  // The modes of contacts that touch and have no normal velocity, with these efforts: none pulls,
  // none is accelerated into its plane, and friction obeys Coulomb's law. All others are apart.
  void choose_modes(const State& state, const Eigen::VectorXd& effort,
                    std::span<const ExternalWrench> external, std::span<const int> touching);
  // A contact that slides is pressed down by its own friction: how much a unit of normal force, and
  // the friction that comes with it, accelerates it away from its plane, over the same without
  // friction. At zero no finite force keeps it out of its plane (Painlevé). After forward(); 1
  // where nothing can be said, as of redundant contacts.
  double slide_margin(int contact);
  // What that is measured by is of the position at which the mode was chosen; now of this one. What
  // the last forward() left is lost.
  void renew_margin(int contact, const State& state);
  // Sliding that has no finite force ends at once, by an impulse: the limit of what these contacts,
  // which touch, do when they approach their planes slower and slower. (An impact without a
  // collision; Génot and Brogliato, Stewart.) Modes are not changed.
  Jump jam(const State& state, const Eigen::VectorXd& effort,
           std::span<const ExternalWrench> external, std::span<const int> contacts);
  // A motion begins here: see MultiplierDynamics.
  void begin(const State& state) {
    usual_sine_ = kInfinity;
    dynamics_.begin(state.q, workspace_);
  }
  // Positions and velocities back onto the constraints; returns the largest gap left. Rows of loops
  // that do not count are not looked at, here and in gap().
  double close(State& state);
  // The same for a state that is only looked at: the choice of modes stays.
  void close_aside(State& state);
  double gap(const State& state);

  // ---- Through singular positions (constraint_set_singular.cpp). ----
  // In one the rank drops: forces and accelerations are not determined by it, though they are by
  // the motion, along which they are smooth. They are interpolated between positions before and
  // behind it. The rank itself never drops: that would be another mechanism.
  //
  // Whether the last forward() or close() was so near one that its digits are lost.
  bool near_singular();
  // States beside this one along its velocities, closed, and the state that is interpolated between
  // them in its place. None (and nothing changed) if no motion passes here: at rest, at the end of
  // a range, or where two branches pass each other without meeting.
  std::optional<Passage> step_aside(State& state);
  // Multipliers in place of those of the last forward(), at this state.
  void take_interpolated(const State& state, const Eigen::VectorXd& multipliers);
  // By row, of those that are active: whether it holds positions and not velocities alone, as where
  // a contact sticks.
  std::vector<char> positional_rows() const;
  // Servos by ideal forces, whatever their actuators: to find a state from which they can start,
  // any freedom may move.
  void use_ideal_servos(bool ideal);
  // Throws NumericalError if no state near this one satisfies the active constraints, positions to
  // `tolerance` and velocities to that fraction of the fastest: names the smallest set of them that
  // contradict each other, found by leaving out one after the other.
  void refuse_open(const State& state, double tolerance);

  // ---- Of the last forward() or impulse. ----
  // How far forward() was from a singular position: the smallest sine between a row and the others.
  double clearance() const { return clearance_; }
  // What an attachment exerts on body b, in frame_b at its origin.
  Wrenchd wrench(int attachment) const {
    return dynamics_.wrench_on_child(at(attachment).constraint);
  }
  double effort(int lock) const;  // of a lock
  // Of the actuators of all servos; added to `effort`, by freedom.
  void add_servo_efforts(Eigen::VectorXd& effort) const;
  double servo_power(int servo) const;
  struct ContactForce {
    double normal = 0.0;
    Vec3d friction{};  // on the body, in the plane's own axes (z: its normal)
  };
  ContactForce contact_force(int contact) const;
  // In words: "contact 'foot' ('shin' on the ground, friction 0.8)".
  std::string describe_contact(int contact) const;

  // ---- Contacts at a state, after look() at it. ----
  void look(const State& state);
  double contact_gap(int contact) const;
  double approach_speed(int contact) const;  // negative: it comes closer
  Vec3d slip(int contact) const;             // in the frame of the plane's body
  const ContactSettings& contact(int i) const { return at(i).contact; }
  const ServoSettings& servo(int i) const { return at(i).servo; }
  ContactMode mode(int contact) const { return at(contact).mode; }

  // The first active row of one that is active; a contact that sticks has three, normal first.
  int first_row(int i) const {
    const Thing& thing = at(i);
    const bool sticks = thing.kind == Kind::contact && thing.mode == ContactMode::sticking;
    return dynamics_.constraints().first_row(sticks ? thing.stick : thing.constraint);
  }
  int row_count(int i) const {
    const Thing& thing = at(i);
    const bool sticks = thing.kind == Kind::contact && thing.mode == ContactMode::sticking;
    return dynamics_.constraints().row_count(sticks ? thing.stick : thing.constraint);
  }
  bool has_servo() const {
    return std::any_of(things_.begin(), things_.end(),
                       [](const Thing& thing) { return thing.kind == Kind::servo; });
  }
  int locked_freedom(int lock) const { return at(lock).lock.freedom; }

  // In words: "attachment 'grip'", "hinge 'C'".
  std::string name_of_row(int row) const;
  // The constraints of a conflict in words, or "".
  std::string conflict() const;
  // Throws it: NonsmoothError if a contact, stop or dry friction takes part, else NumericalError.
  [[noreturn]] void throw_conflict() const;

  // What a checkpoint must keep of the modes.
  static constexpr std::size_t kSavedEach = 19;
  std::vector<double> save() const;
  void restore(std::span<const double> saved);

 private:
  struct Thing {
    Kind kind = Kind::attachment;
    std::string name;
    int constraint = -1;  // of contacts: the normal row
    int stick = -1;       // of contacts: normal and tangential rows
    AttachmentSettings attachment;
    LockSettings lock;
    double position = 0.0, velocity = 0.0, acceleration = 0.0;
    bool holds_position = false;
    ContactSettings contact;
    ContactMode mode = ContactMode::apart;
    Vec3d direction{};    // set_mode()
    double give = 0.0;    // acceleration by a unit normal force when its mode was chosen
    double weight = 1.0;  // of its friction among redundant contacts that stick
    ServoSettings servo;
    ServoTarget target;
    NodeFrame plane;  // z is the normal
    int node = -1;    // of the body
    Vec3d center{};   // in the node's frame
    Vec3d rim_axis{};
  };
  Thing& at(int i) { return things_[static_cast<std::size_t>(i)]; }
  const Thing& at(int i) const { return things_[static_cast<std::size_t>(i)]; }
  int add_thing(Thing thing);
  void place_slot(Thing& thing) const;
  void place(const State& state, const Workspace& workspace);
  void place_contact(const Thing& thing, const Workspace& workspace);
  void add_gaps(const State& state, const Workspace& workspace, Eigen::VectorXd& residual) const;
  void watch_servos() const;
  std::string name_of(const Thing& thing) const;
  struct Miss {
    double position = 0.0, velocity = 0.0;  // what is left of the rows after closing
    bool closed = true;
  };
  Miss close_copy(State state, double tolerance);
  class Neighbours;
  // Locks and servos are looked at ahead of time while it lives.
  struct Ahead {
    Ahead(ConstraintSet& set, double time) : to(set.ahead_) { to = time; }
    ~Ahead() { to = 0.0; }
    Ahead(const Ahead&) = delete;
    Ahead& operator=(const Ahead&) = delete;
    double& to;
  };
  // Contacts alone, all other constraints eliminated.
  struct Reduced;
  class AllRows;
  Reduced reduce(std::span<const int> contacts, const Eigen::VectorXd& right) const;
  Jump strike(const State& state, const Reduced& reduced, const ContactSolution& solution);
  static Eigen::VectorXd turning_impulse(const ContactProblem& problem,
                                         const Eigen::VectorXd& pull);
  void refuse_unsolved(const ContactSolution& solution, std::span<const int> contacts) const;
  struct Chosen;
  void take_mode(const Reduced& reduced, const ContactSolution& solution, int place,
                 const Chosen& chosen);
  void share(const ContactProblem& problem, ContactSolution& solution) const;
  void balance(const Reduced& reduced, ContactSolution& solution) const;
  bool carry(const Reduced& reduced, int first, ContactSolution& solution,
             std::vector<std::uint8_t>& left_out) const;
  struct Touch {
    Vec3d point;      // of contact, in the plane's frame
    Vec3d rate;       // of the point that is nearest, as it runs over the body
    Twistd relative;  // body against plane, in the plane's frame
    Transformd X_plane_node;
    Transformd plane;  // its frame on its node: z is the normal
    Vec3d turns;       // rate of the normal, of a sphere in place of the plane
  };
  Touch touch(const Thing& thing, const Workspace& workspace) const;

  const Mechanism* mechanism_;
  MultiplierDynamics dynamics_;
  Workspace workspace_;
  std::vector<Thing> things_;
  int fixed_ = 0;             // things that are no slots
  Eigen::VectorXd velocity_;  // of the last forward()
  double clearance_ = 1.0;
  double ahead_ = 0.0;
  // Of rows that are nearly dependent everywhere: the clearance where stepping aside did not help.
  double usual_sine_ = kInfinity;
  int usual_generation_ = -1;  // of the constraints it was found with
  mutable Eigen::VectorXd along_;
};

// Slower than this (m/s) a contact is taken to be at rest: what is lost when it is brought to rest
// is m v²/2 ~ 1e-14 J of a kilogram.
inline constexpr double kSlowSlip = 1e-7;

// So is one whose slip the accelerations that act would change within this time (s).
inline constexpr double kSlowTime = 1e-8;

// A contact with less of slide_margin() jams. Its force turns the mechanism towards the jam, so the
// margin falls as the root of the time that is left: that is a part of this squared, and what the
// velocities would still change by a part of this, of what the mechanism does otherwise.
inline constexpr double kJammed = 1e-4;

}  // namespace catena
