import { deviceId, placement, virtioDriver, virtioProperties } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** Sources of entropy. */
export function addRngs(domain: DomainSection, plan: MachinePlan): void {
  for (const [index, rng] of domain.requireChild("devices").children("rngs").entries()) {
    const id = deviceId(rng, `rng${index}`, plan);
    const backend = rng.requireChild("backend");
    const object = `obj${id}`;
    if (backend.oneOf("model", ["random", "builtin"]) === "builtin") plan.addObject("rng-builtin", object);
    else plan.addObject("rng-random", object, { filename: backend.text("value") ?? "/dev/urandom" });
    const { driver, known } = virtioDriver(plan, "rng", rng.text("model"));
    if (!known) throw rng.refuse("model", "this model is not known");
    const rate = rng.child("rate");
    const bytes = rate?.number("bytes");
    plan.addDevice(driver, {
      id,
      rng: object,
      ...(bytes !== undefined && { "max-bytes": bytes, period: rate?.number("period") ?? 1000 }),
      ...virtioProperties(rng.child("driver")),
      ...placement(rng, plan),
    });
  }
}
