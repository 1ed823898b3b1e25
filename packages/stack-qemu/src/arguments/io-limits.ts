import type { Disk } from "./definition-types.ts";
import type { MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

type Limits = NonNullable<Disk["iotune"]>;
/** Fields that are numbers. */
type Limit = Exclude<keyof Limits, "groupName" | "$attributes" | "$elements" | "$prefix" | "$text"> & keyof Limits;

/** What the monitor calls the limits. It wants the first six always; 0 means no limit. */
const base = {
  bps: "totalBytesSec",
  bps_rd: "readBytesSec",
  bps_wr: "writeBytesSec",
  iops: "totalIopsSec",
  iops_rd: "readIopsSec",
  iops_wr: "writeIopsSec",
} as const satisfies Record<string, Limit>;

const bursts = {
  bps_max: "totalBytesSecMax",
  bps_rd_max: "readBytesSecMax",
  bps_wr_max: "writeBytesSecMax",
  iops_max: "totalIopsSecMax",
  iops_rd_max: "readIopsSecMax",
  iops_wr_max: "writeIopsSecMax",
  bps_max_length: "totalBytesSecMaxLength",
  bps_rd_max_length: "readBytesSecMaxLength",
  bps_wr_max_length: "writeBytesSecMaxLength",
  iops_max_length: "totalIopsSecMaxLength",
  iops_rd_max_length: "readIopsSecMaxLength",
  iops_wr_max_length: "writeIopsSecMaxLength",
  iops_size: "sizeIopsSec",
} as const satisfies Record<string, Limit>;

/** How fast a disk may be. QEMU takes that for a device that is there, so it is set before the guest runs. */
export function addIoLimits(disk: Section<Disk>, id: string, plan: MachinePlan): void {
  const limits = disk.child("iotune");
  if (limits === undefined) return;
  const args: Record<string, unknown> = { id };
  for (const [name, key] of Object.entries(base)) args[name] = limits.number(key) ?? 0;
  for (const [name, key] of Object.entries(bursts)) {
    const value = limits.number(key);
    if (value !== undefined) args[name] = value;
  }
  const group = limits.text("groupName");
  if (group !== undefined) args["group"] = group;
  plan.addAfterStart({ command: "block_set_io_throttle", args });
}
