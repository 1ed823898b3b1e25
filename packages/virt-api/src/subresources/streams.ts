import type { VirtualMachineInstance } from "@polyvirt/api";
import { Refusal } from "../server/status.ts";

/** Streams of a running guest: what its VMI must have for them. */
const streams: Readonly<
  Record<string, { readonly isMissing: (vmi: VirtualMachineInstance) => boolean; readonly refusal: string }>
> = {
  console: {
    isMissing: ({ spec }) => spec.domain.devices.autoattachSerialConsole === false,
    refusal: "No serial consoles are present.",
  },
  vnc: {
    isMissing: ({ spec }) => spec.domain.devices.autoattachGraphicsDevice === false,
    refusal: "No graphics devices are present.",
  },
};

/** Whether this stream of the VMI can be opened now. */
export function checkStream(name: string, vmi: VirtualMachineInstance): void {
  if (vmi.status?.phase !== "Running") throw new Refusal(409, "VMI is not running");
  const stream = streams[name];
  if (stream === undefined) throw new Refusal(501, `virtualmachineinstances/${name} is not served by this version`);
  if (stream.isMissing(vmi)) throw new Refusal(400, stream.refusal);
}
