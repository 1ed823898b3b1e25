import type { DomainSection, MachinePlan } from "./machine-plan.ts";

/** Used when the definition has sound cards and says nothing about where the sound goes. */
const silence = "audio0";

/**
 * Where sound goes. Nobody listens on the node, so it goes nowhere. Returns the names of the back ends by their number.
 */
export function addAudios(
  domain: DomainSection,
  needed: boolean,
  plan: MachinePlan,
): (id: number | undefined) => string {
  const audios = domain.requireChild("devices").children("audios");
  const names = new Map<number, string>();
  for (const audio of audios) {
    const id = audio.number("id") ?? 1;
    if ((audio.oneOf("type", ["none"]) ?? "none") !== "none") throw audio.refuse("type", "nobody listens on the node");
    names.set(id, `audio${id}`);
    plan.addAudio({ id: `audio${id}`, driver: "none" });
  }
  if (audios.length === 0 && needed) plan.addAudio({ id: silence, driver: "none" });
  const [first] = names.values();
  return (id) => (id === undefined ? undefined : names.get(id)) ?? first ?? silence;
}
