import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import { errors } from "../errors.ts";
import { isAlive, type ProcessIdentity } from "../process-identity.ts";
import { commandEnvironment, type ContainerCredentials } from "./container-spec.ts";
import { execScript } from "./shim-script.ts";

interface ExecOptions {
  /** First process of the container. */
  readonly init: ProcessIdentity;
  readonly command: readonly string[];
  readonly credentials: ContainerCredentials;
  readonly privileged: boolean;
  readonly workingDirectory: string;
  /** A terminal for standard input, output and error; pipes when missing. */
  readonly terminal?: number;
}

/**
 * Runs another command inside of a running container, with the container's environment and rights. It ends when the
 * returned process is killed.
 *
 * SAFETY: the namespaces are entered by process id, so the identity is checked right before; a container that ended in
 * between makes `nsenter` fail, because its namespaces are entered all or none.
 */
export function execInContainer(options: ExecOptions): ChildProcess {
  const { init, command, credentials, privileged } = options;
  const environment = environmentOf(init);
  if (!isAlive(init)) throw errors.HostProcessGone(`execute ${command[0] ?? ""} in a container: it has ended`);
  const rootless = process.getuid?.() === 0 ? [] : ["--user", "--preserve-credentials"];
  const enter = [`--target=${init.pid}`, ...rootless, "--mount", "--uts", "--pid", "--root", "--wd", "--"];
  // The session has to begin inside, where its process ids mean something to the command.
  const session = options.terminal === undefined ? [] : ["setsid", "--ctty"];
  const stdio = options.terminal ?? "pipe";
  return spawn("nsenter", [...enter, ...session, "/bin/sh", "-c", execScript, "exec"], {
    cwd: "/",
    stdio: [stdio, stdio, stdio],
    env: {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      PV_WORKDIR: options.workingDirectory,
      ...commandEnvironment({ command, environment, credentials, privileged }, ["--pdeathsig=SIGKILL"]),
    },
  });
}

/** The environment that the container's first process was started with. */
function environmentOf(init: ProcessIdentity): Map<string, string> {
  let text: string;
  try {
    text = fs.readFileSync(`/proc/${init.pid}/environ`, "utf8");
  } catch (cause) {
    throw errors.HostProcessGone(`read the environment of a container: it has ended`, { cause });
  }
  return new Map(
    text
      .split("\0")
      .filter((entry) => entry.includes("="))
      .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}
