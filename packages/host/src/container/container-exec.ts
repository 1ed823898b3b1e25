import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { errors } from "../errors.ts";
import { isAlive, type ProcessIdentity } from "../process-identity.ts";
import { commandEnvironment, type ContainerCredentials } from "./container-spec.ts";
import { execScript } from "./shim-script.ts";

/** In a container's directory: the names and values that its processes get. */
export const environmentFile = "environment.json";

interface ExecOptions {
  /** Where the container was started. */
  readonly directory: string;
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
  const environment = environmentOf(options.directory);
  if (!isAlive(init)) throw errors.HostProcessGone(`execute ${command[0] ?? ""} in a container: it has ended`);
  const rights = process.getuid?.() === 0 ? ["--net"] : ["--user", "--preserve-credentials"];
  const enter = [`--target=${init.pid}`, ...rights, "--mount", "--uts", "--pid", "--root", "--wd", "--"];
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

function environmentOf(directory: string): Map<string, string> {
  try {
    const text = fs.readFileSync(path.join(directory, environmentFile), "utf8");
    // Written by startContainer from a map of texts.
    return new Map(JSON.parse(text) as [string, string][]);
  } catch (cause) {
    throw errors.HostProcessGone("read the environment of a container: its directory is gone", { cause });
  }
}
