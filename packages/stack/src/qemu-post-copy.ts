import { spawn } from "node:child_process";
import type { Clock } from "@polyvirt/core";
import type { PostCopySupport } from "./migration.ts";

interface Question {
  readonly clock: Pick<Clock, "setTimer">;
  /** What QEMU is started by, with the rights that it has when it runs a machine: the program, and what comes before it. */
  readonly command: readonly [string, ...string[]];
}

const limitMs = 10_000;
const maxWords = 500;
const machine = ["-no-user-config", "-nodefaults", "-display", "none", "-machine", "none", "-accel", "tcg", "-S"];
const commands = [
  { execute: "qmp_capabilities" },
  {
    execute: "migrate-set-capabilities",
    arguments: { capabilities: [{ capability: "postcopy-ram", state: true }] },
  },
];

/**
 * Whether a QEMU that waits for a machine could take it by post-copy. QEMU finds out itself, by asking the kernel for what
 * it needs (userfaultfd), and refuses to be told to do it when it cannot have that.
 */
export function probeQemuPostCopy({ clock, command: [program, ...before] }: Question): Promise<PostCopySupport> {
  return new Promise((resolve) => {
    const args = [...before, ...machine, "-incoming", "defer", "-qmp", "stdio"];
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
    let answers = "";
    let words = "";
    let lateReason = "";
    const timer = clock.setTimer(limitMs, () => {
      lateReason = `QEMU gave no answer within ${limitMs / 1000} s`;
      child.kill("SIGKILL");
    });
    child.stdin.on("error", () => {
      // It has ended; its last words say why.
    });
    child.stdin.write(commands.map((entry) => JSON.stringify(entry)).join("\n"));
    child.stdout.on("data", (chunk: Buffer) => {
      answers += chunk.toString();
      if (readAnswers(answers).length >= commands.length) child.kill("SIGKILL");
    });
    child.stderr.on("data", (chunk: Buffer) => (words = (words + chunk.toString()).slice(-maxWords)));
    child.once("error", (error) => {
      timer.cancel();
      resolve({ supported: false, reason: `QEMU cannot be asked: ${error.message}` });
    });
    child.once("close", () => {
      timer.cancel();
      const reason = lateReason === "" ? refusal(readAnswers(answers), words.trim()) : lateReason;
      resolve(reason === undefined ? { supported: true } : { supported: false, reason });
    });
  });
}

interface Answer {
  readonly error?: { readonly desc?: string };
}

/** Answers to commands among all that QEMU has said; its greeting and its events are none. */
function readAnswers(text: string): Answer[] {
  const complete = text.split("\n").slice(0, -1);
  return complete.flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      const isAnswer = typeof value === "object" && value !== null && ("return" in value || "error" in value);
      // Every part of it is optional.
      return isAnswer ? [value as Answer] : [];
    } catch {
      return [];
    }
  });
}

function refusal(answers: readonly Answer[], words: string): string | undefined {
  const failed = answers.find((answer) => answer.error !== undefined);
  if (failed === undefined && answers.length >= commands.length) return undefined;
  const hint = words.includes("userfaultfd")
    ? "; the node has to let everybody use it (sysctl vm.unprivileged_userfaultfd=1)"
    : "";
  const said = [failed?.error?.desc ?? "QEMU ended", words.replaceAll("\n", "; ")].filter((part) => part !== "");
  return `${said.join(": ")}${hint}`;
}
