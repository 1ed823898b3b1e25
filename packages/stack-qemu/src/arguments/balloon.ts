import { deviceId, placement, virtioDriver, virtioProperties } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** The balloon takes memory back from the guest and tells how it uses what it has. */
export function addBalloon(domain: DomainSection, plan: MachinePlan): void {
  const balloon = domain.requireChild("devices").child("memballoon");
  if (balloon === undefined) return;
  const model = balloon.text("model");
  if (model === "none") return balloon.skip("alias", "stats");
  const { driver, known } = virtioDriver(plan, "balloon", model);
  if (!known) throw balloon.refuse("model", "this model is not known");
  const id = deviceId(balloon, "balloon0", plan);
  plan.addDevice(driver, {
    id,
    "deflate-on-oom": balloon.toggle("autodeflate"),
    "free-page-reporting": balloon.toggle("freePageReporting"),
    ...virtioProperties(balloon.child("driver")),
    ...placement(balloon, plan),
  });
  const period = balloon.child("stats")?.number("period");
  if (period !== undefined && period > 0) {
    const args = { path: `/machine/peripheral/${id}`, property: "guest-stats-polling-interval", value: period };
    plan.addAfterStart({ command: "qom-set", args });
  }
}
