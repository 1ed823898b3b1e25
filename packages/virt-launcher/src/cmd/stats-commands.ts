import { describeError } from "@polyvirt/core";
import type { cmdV1, ServiceImplementation } from "@polyvirt/protocol";
import { requirePart, type Stack } from "@polyvirt/stack";
import { errors } from "../errors.ts";
import { domainStatsDocument } from "./domain-stats.ts";

type StatsCommands = Pick<
  ServiceImplementation<typeof cmdV1.Cmd>,
  "getDomainStats" | "getDomainDirtyRateStats" | "getVMStats"
>;

const success = { success: true };

/** What a guest uses and does, as counters. */
export function statsCommands(stack: Stack): Required<StatsCommands> {
  const domainStats = async () => {
    const stats = await requirePart(stack, "stats", "read statistics").domainStats();
    const { name = "", uuid } = stack.lifecycle.domain()?.definition ?? {};
    return { response: success, domainStats: JSON.stringify(domainStatsDocument({ name, uuid }, stats)) };
  };
  const dirtyRate = async () => {
    const stats = requirePart(stack, "stats", "measure the dirty rate");
    if (stats.dirtyRate === undefined)
      throw errors.LauncherRequestMalformed(`measure the dirty rate: not supported by stack ${stack.name}`);
    return { response: success, dirtyRateMbs: BigInt(Math.round(await stats.dirtyRate())) };
  };
  return {
    getDomainStats: domainStats,
    getDomainDirtyRateStats: dirtyRate,
    /** Each part that is asked for is answered by itself: one that fails says why, and takes no other with it. */
    async getVMStats(request) {
      const unserved = {
        success: false,
        message: "questions to the guest's agent are not part of the statistics here",
      };
      const asked = Object.entries(request).filter(([part, value]) => part.startsWith("guest") && value !== undefined);
      return {
        response: success,
        ...(request.domainStats === undefined ? {} : { domainStats: await answered(domainStats) }),
        ...(request.dirtyRate === undefined ? {} : { dirtyRateStats: await answered(dirtyRate) }),
        ...Object.fromEntries(asked.map(([part]) => [part, unserved])),
      };
    },
  };
}

async function answered<T>(ask: () => Promise<T>): Promise<T | { response: { success: false; message: string } }> {
  try {
    return await ask();
  } catch (error) {
    return { response: { success: false, message: describeError(error) } };
  }
}
