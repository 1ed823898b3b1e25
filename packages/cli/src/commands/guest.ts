import { parseArguments } from "../arguments.ts";
import { connectWith } from "../cluster-client.ts";
import type { Command } from "../command.ts";
import { openDataDir } from "../data-dir.ts";
import { errors } from "../errors.ts";
import { guestPath } from "../guest-path.ts";

interface GuestAction {
  readonly method: "GET" | "PUT";
  readonly subresource: string;
  readonly summary: string;
  /** What is sent along. */
  readonly body?: (options: { readonly limit: string }) => object;
}

/** As in virtctl, under one command. */
const actions: Readonly<Record<string, GuestAction>> = {
  info: { method: "GET", subresource: "guestosinfo", summary: "what its agent tells of its system" },
  users: { method: "GET", subresource: "userlist", summary: "who is logged in" },
  filesystems: { method: "GET", subresource: "filesystemlist", summary: "what is mounted, and how full it is" },
  screenshot: { method: "GET", subresource: "vnc/screenshot", summary: "a picture of its screen, on standard output" },
  pause: { method: "PUT", subresource: "pause", summary: "let it stand still" },
  unpause: { method: "PUT", subresource: "unpause", summary: "let it go on" },
  reset: { method: "PUT", subresource: "reset", summary: "press its reset button" },
  reboot: { method: "PUT", subresource: "softreboot", summary: "ask it to restart in good order" },
  freeze: {
    method: "PUT",
    subresource: "freeze",
    summary: "make its file systems wait, until unfreeze or the limit",
    body: ({ limit }) => ({ unfreezeTimeout: limit }),
  },
  unfreeze: { method: "PUT", subresource: "unfreeze", summary: "let its file systems go on" },
};

/** Freezing waits for every write of the guest to reach its disks. */
const answerLimitMs = 70_000;
const width = Math.max(...Object.keys(actions).map((name) => name.length));

export const guest: Command = {
  usage: [
    "usage: polyvirt guest ACTION NAME [--namespace NAMESPACE] [--limit DURATION] [--data-dir DIR]",
    "",
    ...Object.entries(actions).map(([name, { summary }]) => `  ${name.padEnd(width)}   ${summary}`),
    "",
    "  --namespace, -n NAMESPACE   the guest's namespace (default)",
    "  --limit DURATION            after which a frozen guest goes on by itself (5m)",
    "  --data-dir DIR              the cluster's folder; KUBECONFIG, when set, is used instead",
  ].join("\n"),
  completions: [...Object.keys(actions), "--namespace", "--limit", "--data-dir"],
  async run(args, context) {
    const { values, positionals } = parseArguments(args, {
      namespace: { type: "string", short: "n", default: "default" },
      limit: { type: "string", default: "5m" },
      "data-dir": { type: "string" },
    });
    const [wanted = "", name, ...rest] = positionals;
    const action = Object.hasOwn(actions, wanted) ? actions[wanted] : undefined;
    if (action === undefined) throw errors.CliUsage(`say what to do: ${Object.keys(actions).join(", ")}`);
    if (name === undefined || rest.length > 0) throw errors.CliUsage("name one VirtualMachineInstance");
    const dataDir = openDataDir(values["data-dir"], context.env);
    const own = values["data-dir"] === undefined ? context.env["KUBECONFIG"] : undefined;
    const client = await connectWith(own ?? dataDir.kubeconfig, context.env);
    try {
      const json = action.body?.(values) ?? {};
      const path = guestPath(values.namespace, name, action.subresource);
      const answer = await client.request(action.method, path, {
        timeoutMs: answerLimitMs,
        ...(action.method === "PUT" ? { json } : {}),
      });
      const document = answer.headers["content-type"]?.startsWith("application/json") === true;
      if (document && answer.body.length > 0) context.stdout.write(`${JSON.stringify(answer.json(), undefined, 2)}\n`);
      else context.stdout.write(answer.body);
    } catch (cause) {
      throw errors.CliGuestRequestFailed(`${wanted} ${values.namespace}/${name}`, { cause });
    } finally {
      client.close();
    }
    return 0;
  },
};
