import { spawn } from "node:child_process";
import { repositoryRoot } from "./repository.ts";

/** Runs a command in the repository and returns its exit code and everything it printed. */
export function run(program: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: repositoryRoot, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const collect = (text: string) => (output += text);
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    child.on("error", (error) => resolve({ code: 127, output: `${program}: ${error.message}\n` }));
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
