import { cmdV1, createGrpcClient } from "@polyvirt/protocol";
import { parseArguments, parseCount } from "../arguments.ts";
import { errors } from "../errors.ts";

/** The flags are KubeVirt's: pods of either may find the other's command in their image. */
const flags = {
  domainName: { type: "string" },
  timeoutSeconds: { type: "string", default: "1" },
  command: { type: "string" },
  guestAgentPing: { type: "boolean", default: false },
  socket: { type: "string", default: "/var/run/kubevirt/sockets/launcher-sock" },
} as const;

/** The launcher answers that the limit has passed before we stop waiting. */
const slackMs = 500;

export interface ProbeOutcome {
  readonly exitCode: number;
  readonly output: string;
}

/** Asks the launcher of this pod about its guest, on behalf of the kubelet: a command in it, or a sign of life. */
export async function probeGuest(args: readonly string[]): Promise<ProbeOutcome> {
  const { values, positionals } = parseArguments(args, flags);
  const { command, socket, domainName = "" } = values;
  if ((command === undefined) === !values.guestAgentPing) {
    throw errors.CliUsage("probe the guest: either --command or --guestAgentPing must be given");
  }
  const timeoutSeconds = parseCount("timeoutSeconds", values.timeoutSeconds, { min: 1, max: 3600 });
  const launcher = createGrpcClient(cmdV1.Cmd, `unix:${socket}`, { timeoutMs: timeoutSeconds * 1000 + slackMs });
  try {
    if (command === undefined) {
      await launcher.guestPing({ domainName, timeoutSeconds });
      return { exitCode: 0, output: "" };
    }
    const { exitCode, stdOut } = await launcher.exec({
      domainName,
      Command: command,
      Args: positionals,
      timeoutSeconds,
    });
    return { exitCode, output: stdOut };
  } finally {
    launcher.close();
  }
}
