/** The launcher's other command: what the kubelet runs in its pod to see whether the guest works. */
import { describeError } from "@polyvirt/core";
import { probeGuest } from "../launcher/probe-guest.ts";

try {
  const { exitCode, output } = await probeGuest(process.argv.slice(2));
  process.stdout.write(output);
  process.exitCode = exitCode;
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = 1;
}
