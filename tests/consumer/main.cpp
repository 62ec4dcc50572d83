// A user's program: where is the tip of a link of length 2 that has turned by a quarter?
#include <cstdio>
#include <numbers>

#include <catena/spatial/transform.h>

int main() {
  const catena::Twistd turn{{0.0, 0.0, std::numbers::pi / 2.0}, {0.0, 0.0, 0.0}};
  const catena::Vec3d tip = catena::exp_transform(turn) * catena::Vec3d{2.0, 0.0, 0.0};
  std::printf("tip %.3f %.3f %.3f\n", tip.x + 0.0, tip.y, tip.z);
}
