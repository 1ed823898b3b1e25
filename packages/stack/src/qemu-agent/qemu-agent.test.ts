import { describe, expect, it } from "vitest";
import { errors } from "../errors.ts";
import { QemuAgent } from "./qemu-agent.ts";

const required = [
  "guest-ping",
  "guest-info",
  "guest-get-osinfo",
  "guest-get-host-name",
  "guest-network-get-interfaces",
  "guest-get-fsinfo",
  "guest-get-users",
  "guest-get-timezone",
];
const whileFrozen = new Set(["guest-ping", "guest-info", "guest-fsfreeze-status"]);

const info = (
  enabled: (name: string) => boolean,
  names: readonly string[] = [...required, "guest-fsfreeze-status"],
) => ({
  version: "7.2",
  supported_commands: names.map((name) => ({ name, enabled: enabled(name) })),
});

/** An agent that answers from a table, in a time that only its own commands make pass. */
function scripted(answers: Readonly<Record<string, unknown>>, answerMs = 0) {
  const asked: { command: string; limitMs: number }[] = [];
  let now = 0;
  const agent = new QemuAgent(
    {
      isOpen: () => true,
      async execute(command, _args, limitMs) {
        asked.push({ command, limitMs });
        now += Math.min(answerMs, limitMs);
        if (answerMs > limitMs) throw errors.StackGuestAgentUnavailable(`run ${command} in the guest: no answer`);
        return answers[command];
      },
    },
    {
      monotonic: () => now,
      async sleep(ms) {
        now += ms;
      },
    },
  );
  return { agent, asked, now: () => now };
}

describe("condition", () => {
  it.each([
    ["an agent with every command", info(() => true), "thawed", true],
    ["an agent whose commands are switched off", info((name) => whileFrozen.has(name)), "thawed", false],
    ["the same one while it keeps file systems frozen", info((name) => whileFrozen.has(name)), "frozen", true],
    ["a frozen agent that lacks commands", info(() => true, [...whileFrozen]), "frozen", false],
    ["one that answers nonsense", { supported_commands: 7 }, "frozen", false],
  ])("judges %s", async (_what, answer, status, supported) => {
    const { agent } = scripted({ "guest-info": answer, "guest-fsfreeze-status": status });
    expect(await agent.condition()).toEqual({ connected: true, supported });
  });

  it("is not connected when nobody answers", async () => {
    const { agent } = scripted({}, 60_000);
    expect(await agent.condition()).toEqual({ connected: false, supported: false });
  });
});

describe("reboot", () => {
  const rebooting = (isOpen: () => boolean, answer: () => Error | undefined) =>
    new QemuAgent(
      {
        isOpen,
        async execute() {
          const error = answer();
          if (error !== undefined) throw error;
          return {};
        },
      },
      { monotonic: () => 0, sleep: async () => {} },
    ).reboot();
  const silence = () => errors.StackGuestAgentUnavailable("run guest-shutdown in the guest: no answer");

  it("takes silence for consent, also when the guest is gone by then", async () => {
    await expect(rebooting(() => true, silence)).resolves.toBeUndefined();
    let open = true;
    const leave = () => {
      open = false;
      return silence();
    };
    await expect(rebooting(() => open, leave)).resolves.toBeUndefined();
  });

  it("fails without an agent, and when the agent says no", async () => {
    await expect(rebooting(() => false, silence)).rejects.toThrow("no answer");
    const refusal = () => errors.StackCommandFailed("run guest-shutdown in the guest: not allowed");
    await expect(rebooting(() => true, refusal)).rejects.toThrow("not allowed");
  });
});

describe("exec", () => {
  it("gives up at the limit, however long the command runs", async () => {
    const { agent, asked, now } = scripted({ "guest-exec": { pid: 7 }, "guest-exec-status": { exited: false } });
    await expect(agent.exec("sleep", ["60"], 1_000)).rejects.toThrow("it did not end within 1000 ms");
    expect(now()).toBeLessThanOrEqual(1_100);
    expect(asked.every(({ limitMs }) => limitMs <= 1_000)).toBe(true);
  });

  it("gives up at the limit, however slowly the agent answers", async () => {
    const { agent, now } = scripted({ "guest-exec": { pid: 7 }, "guest-exec-status": { exited: false } }, 700);
    await expect(agent.exec("true", [], 1_000)).rejects.toThrow("run guest-exec-status in the guest: no answer");
    expect(now()).toBeLessThanOrEqual(1_100);
  });

  it.each([
    ["no process", { "guest-exec": {} }, "the agent named no process"],
    ["a process that is none", { "guest-exec": { pid: "7" } }, "the agent named no process"],
  ])("fails when the agent names %s", async (_what, answers, message) => {
    await expect(scripted(answers).agent.exec("true", [], 1_000)).rejects.toThrow(message);
  });

  it.each([1.5, -1, 1e12, "0", null])("takes %j for a failure, not for an exit code", async (exitcode) => {
    const { agent } = scripted({ "guest-exec": { pid: 7 }, "guest-exec-status": { exited: true, exitcode } });
    expect(await agent.exec("true", [], 1_000)).toEqual({ exitCode: 128, stdout: "" });
  });
});
