import { expect, it } from "vitest";
import { freeSlots } from "./resources.ts";

it("offers CPUs in the order in which the machine numbers them", () => {
  const slot = (socket: number, core: number, present = false) => ({
    type: "max-x86_64-cpu",
    props: { "socket-id": socket, "core-id": core, "thread-id": 0 },
    ...(present && { "qom-path": "/machine/unattached/device[0]" }),
  });
  const slots = [slot(1, 1), slot(1, 0), slot(0, 1), slot(0, 0, true)];
  expect(freeSlots(slots).map(({ props }) => [props["socket-id"], props["core-id"]])).toEqual([
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
});
