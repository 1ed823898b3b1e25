import { spawn } from "node:child_process";
import { errors } from "../errors.ts";

interface ProgramInput {
  readonly arguments: readonly string[];
  readonly stdin?: string;
  /** Beside PATH, all that the program gets to see. */
  readonly environment?: Readonly<Record<string, string>>;
  /** An open file that becomes the program's descriptor 3. */
  readonly descriptor?: number;
}

const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin";
const limitMs = 20_000;
const maxOutputBytes = 1024 * 1024;

/**
 * Runs one of the system's programs to its end and returns what it printed. It is found in the system's own folders and
 * gets no environment but the one given; its failure is an error that repeats what it said.
 */
export function runProgram(program: string, input: ProgramInput): Promise<string> {
  const { arguments: args, stdin = "", environment = {}, descriptor } = input;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: "/",
      stdio: ["pipe", "pipe", "pipe", ...(descriptor === undefined ? [] : [descriptor])],
      env: { PATH: systemPath, ...environment },
      timeout: limitMs,
      killSignal: "SIGKILL",
    });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      // Both are pipes by the list above.
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        if (output[name].length < maxOutputBytes) output[name] += text;
      });
    }
    child.once("error", (cause) => {
      const missing = "code" in cause && cause.code === "ENOENT";
      const message = `run ${program}`;
      reject(
        missing ? errors.HostUnsupported(`${message}: it is not installed`) : errors.HostCallFailed(message, { cause }),
      );
    });
    child.once("close", (code, signal) => {
      if (code === 0) return resolve(output.stdout);
      const said = output.stderr.trim().split("\n").slice(0, 5).join("; ");
      reject(
        errors.HostCallFailed(`run ${program}: ${signal ?? `exit code ${code}`}${said === "" ? "" : `: ${said}`}`),
      );
    });
    // A program that has ended early says so by its exit code.
    child.stdin?.on("error", () => {});
    child.stdin?.end(stdin);
  });
}
