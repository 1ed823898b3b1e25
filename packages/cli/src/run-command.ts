import { spawn } from "node:child_process";
import { errors } from "./errors.ts";

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program to its end and returns what it printed; a failure carries the last lines of what it said. */
export function runCommand(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, LC_ALL: "C", ...options.env };
    const child = spawn(program, args, { cwd: options.cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-4000)));
    child.on("error", (cause) => {
      reject(errors.CliProgramMissing(`start ${program}; is it installed?`, { cause, fields: { program } }));
    });
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(stdout);
      const ending = signal === null ? `exit code ${code}` : `signal ${signal}`;
      const message = `run "${program} ${args.join(" ")}": ${ending}: ${stderr.trim()}`;
      reject(errors.CliProgramFailed(message, { fields: { program } }));
    });
  });
}
