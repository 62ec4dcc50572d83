// SPDX-License-Identifier: BSD-3-Clause
// Which shapes collide, what is told about them, and height fields against brute force.
#include "catena/collision/collision_model.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/collision/collisions.h"
#include "catena/collision/field_contacts.h"
#include "catena/io/models/yaml.h"
#include "catena/model/builder.h"

namespace catena {
namespace {

using ::testing::HasSubstr;

Mechanism from_yaml(const std::string& text, const std::string& file = "shapes.yaml") {
  const Reading reading = read_yaml_text("catena: 1\n" + text, file);
  return MechanismBuilder(reading.description).finish();
}

std::filesystem::path folder() {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "catena_collisions";
  std::filesystem::create_directories(path);
  return path;
}

std::string write(const std::string& name, const std::string& text) {
  const std::filesystem::path path = folder() / name;
  std::ofstream(path) << text;
  return path.string();
}

TEST(Collisions, GroupsAndNeighbours) {
  if (!has_fcl()) GTEST_SKIP() << "needs FCL";
  const Mechanism m = from_yaml(R"(
bodies:
  table: {mass: 1, inertia: [1, 1, 1], collisions: [{shape: box, size: [1, 1, 0.1]}]}
  upper: &b {mass: 1, inertia: [1, 1, 1], collisions: [{shape: sphere, radius: 0.1}]}
  middle: *b
  lower: *b
  loose: *b
hinges:
  W: {type: weld, parent: world, child: table}
  A: {type: revolute, parent: table, child: upper}
  B: {type: revolute, parent: upper, child: middle}
  C: {type: revolute, parent: middle, child: lower}
  F: {type: free, parent: world, child: loose}
)");
  const auto names = [&](const CollisionSettings& settings) {
    std::string text;
    for (const auto& [a, b] : CollisionModel(m, settings).pairs())
      text += a.substr(0, a.find('.')) + "-" + b.substr(0, b.find('.')) + " ";
    return text;
  };
  EXPECT_EQ(names({}),
            "table-middle table-lower table-loose upper-lower upper-loose middle-loose "
            "lower-loose ");
  EXPECT_EQ(names({.neighbours = 2}),
            "table-lower table-loose upper-loose middle-loose lower-loose ");
  EXPECT_EQ(names({.collide = {{"world", "*"}}}), "table-middle table-lower table-loose ");
  EXPECT_EQ(names({.groups = {{"arm", {"*er"}}}, .collide = {{"arm", "loose"}}}),
            "upper-loose lower-loose ");
  EXPECT_EQ(names({.neighbours = 0, .collide = {{"*", "*"}}, .ignore = {{"loose", "*"}}}),
            "table-upper table-middle table-lower upper-middle upper-lower middle-lower ");
  EXPECT_THROW(names({.collide = {{"arms", "loose"}}}), NameError);
  EXPECT_THROW(names({.friction = -1.0}), Error);
}

// A tetrahedron as text STL; without its last face it is open.
std::string tetrahedron(int faces) {
  const char* corners[4] = {"0 0 0", "1 0 0", "0 1 0", "0 0 1"};
  const int all[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  std::string text = "solid t\n";
  for (int f = 0; f < faces; ++f) {
    text += "facet normal 0 0 0\nouter loop\n";
    for (const int c : all[f]) text += std::string("vertex ") + corners[c] + "\n";
    text += "endloop\nendfacet\n";
  }
  return text + "endsolid t\n";
}

TEST(Collisions, MeshesAreToldAbout) {
  if (!has_fcl()) GTEST_SKIP() << "needs FCL";
  write("closed.stl", tetrahedron(4));
  write("open.stl", tetrahedron(3));
  write("flat.stl", tetrahedron(1));
  const auto notes = [](const std::string& mesh) {
    const Mechanism m = from_yaml(
        "bodies:\n"
        "  a: {mass: 1, inertia: [1, 1, 1], collisions: [{shape: mesh, mesh: " +
            mesh +
            "}]}\n"
            "  b: {mass: 1, inertia: [1, 1, 1], collisions: [{shape: sphere, radius: 0.1}]}\n"
            "hinges: {A: {type: free, parent: world, child: a}, B: {type: free, parent: world, "
            "child: b}}\n",
        (folder() / "model.yaml").string());
    std::string all;
    const CollisionModel model(m, {});
    for (const std::string& note : model.notes()) all += note + "\n";
    return all;
  };
  EXPECT_EQ(notes("closed.stl"), "");
  EXPECT_THAT(notes("open.stl"), HasSubstr("is not closed (3 edges"));
  EXPECT_THAT(notes("flat.stl"), HasSubstr("lie in a plane"));
  EXPECT_THAT(notes("missing.stl"), HasSubstr("the file is not found"));
}

TEST(Collisions, LawOfAPair) {
  const CollisionSettings s{.friction = 0.7, .restitution = 0.2};
  EXPECT_EQ(pair_law(0.3, 0.5, 0.1, 0.4, s).friction, 0.3);
  EXPECT_EQ(pair_law(0.3, 0.5, 0.1, 0.4, s).restitution, 0.1);
  EXPECT_EQ(pair_law({}, 0.9, 0.6, {}, s).friction, 0.9);
  EXPECT_EQ(pair_law({}, 0.9, 0.6, {}, s).restitution, 0.6);
  EXPECT_EQ(pair_law({}, {}, {}, {}, s).friction, 0.7);
  EXPECT_EQ(pair_law({}, {}, {}, {}, s).restitution, 0.2);
  EXPECT_EQ(pair_law(std::numeric_limits<double>::infinity(), {}, {}, {}, s).friction, 1000.0);
}

TEST(HeightField, Files) {
  const HeightField plain = read_height_field(write("plain.csv", "0, 1, 2\n3, 4, 5\n"));
  EXPECT_EQ(plain.columns, 3);
  EXPECT_EQ(plain.rows, 2);
  EXPECT_EQ(plain.height(2, 1), 5.0);
  EXPECT_DOUBLE_EQ(plain.height_at(0.5, 0.25).value(), 0.5 * 1.0 + 0.25 * 3.0);  // a plane
  EXPECT_FALSE(plain.height_at(2.5, 0.0).has_value());
  const HeightField grid = read_height_field(
      write("grid.asc", "ncols 2\nnrows 2\nxllcorner 10\nyllcorner 20\ncellsize 2\n3 4\n1 2\n"));
  EXPECT_EQ(grid.x, 11.0);
  EXPECT_EQ(grid.y, 21.0);
  EXPECT_EQ(grid.height(0, 0), 1.0);  // its rows begin in the north
  EXPECT_EQ(grid.height(1, 1), 4.0);
  for (const char* bad : {"0 1\n2\n", "0 1\n2 x\n", "ncols 3\nnrows 2\n1 2 3\n", "0 nan\n1 2\n",
                          "1 2\n", "cellsize 0\n1 2\n3 4\n", "cellsise 1\n1 2\n3 4\n"})
    EXPECT_THROW(read_height_field(write("bad.asc", bad)), Error) << bad;
  EXPECT_THROW(read_height_field("no_such_file.asc"), Error);
}

HeightField hills(std::mt19937& random) {
  std::uniform_real_distribution<double> any(0.0, 0.3);
  HeightField f;
  f.spacing_x = 0.3;
  f.spacing_y = 0.4;
  f.columns = 8;
  f.rows = 7;
  for (int i = 0; i < f.columns * f.rows; ++i) f.heights.push_back(any(random));
  return f;
}

// The least gap of a sphere is its distance from points spread densely over the surface.
TEST(HeightField, SphereAgainstSamples) {
  std::mt19937 random(2);
  const HeightField field = hills(random);
  std::uniform_real_distribution<double> x(0.6, 1.5), y(0.8, 1.6), above(0.12, 0.4);
  constexpr int kSamples = 400;
  const ConvexShape ball = sphere_shape(0.1);
  for (int k = 0; k < 20; ++k) {
    Vec3d c{x(random), y(random), 0.0};
    c.z = field.height_at(c.x, c.y).value() + above(random);
    double sampled = 1e300;
    Vec3d nearest = c;
    for (const double reach : {0.5, 5e-3}) {  // about the centre, then about the best so far
      const Vec3d about = nearest;
      for (int i = 0; i <= kSamples; ++i)
        for (int j = 0; j <= kSamples; ++j) {
          Vec3d p{about.x + reach * (2.0 * i / kSamples - 1.0),
                  about.y + reach * (2.0 * j / kSamples - 1.0), 0.0};
          p.z = field.height_at(p.x, p.y).value();
          if (norm(p - c) - 0.1 < sampled) nearest = p;
          sampled = std::min(sampled, norm(p - c) - 0.1);
        }
    }
    std::vector<PatchPoint> points;
    find_field_contacts(placed(ball, Transformd::from_translation(c)), field, 1.0, points);
    double least = 1e300;
    for (const PatchPoint& p : points) least = std::min(least, p.gap);
    EXPECT_LE(least, sampled + 1e-12);
    EXPECT_NEAR(least, sampled, 2e-5);
  }
}

TEST(HeightField, CornersOfABox) {
  std::mt19937 random(4);
  const HeightField field = hills(random);
  const ConvexShape box = box_shape({0.3, 0.2, 0.1});
  const PlacedShape at = placed(box, {exp_rotation(Vec3d{0.3, -0.2, 0.7}), {1.1, 1.2, 0.55}});
  std::vector<PatchPoint> points;
  find_field_contacts(at, field, 0.6, points);
  // Every corner is as high above its own triangle as the field says.
  for (const Vec3d& corner : at.vertices) {
    const double height = corner.z - field.height_at(corner.x, corner.y).value();
    double least = 1e300;
    for (const PatchPoint& p : points)
      if (p.on_a && norm(p.place - corner) < 1e-12) least = std::min(least, p.gap / p.normal.z);
    EXPECT_NEAR(least, height, 1e-12);
  }
}

}  // namespace
}  // namespace catena
