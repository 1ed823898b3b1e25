import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cmdV1, createGrpcServer, grpcService, type GrpcServer } from "@polyvirt/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { probeGuest } from "./probe-guest.ts";

let folder: string;
let socket: string;
let listener: Server;
let grpc: GrpcServer;
let asked: unknown[];

/** Answers as a launcher does whose guest has three commands. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "probe-"));
  socket = join(folder, "launcher-sock");
  asked = [];
  grpc = createGrpcServer([
    grpcService(cmdV1.Cmd, {
      async exec({ domainName, Command, Args, timeoutSeconds }, { signal }) {
        asked.push({ domainName, Command, Args, timeoutSeconds });
        if (Command === "hang") await new Promise((resolve) => signal.addEventListener("abort", resolve));
        if (Command === "break") throw new Error("no agent has opened its channel");
        return { response: { success: true }, exitCode: Number(Args.at(-1)), stdOut: "said\n" };
      },
      async guestPing({ timeoutSeconds }) {
        asked.push({ timeoutSeconds });
        if (timeoutSeconds === 2) throw new Error("the agent gave no answer");
        return { response: { success: true } };
      },
    }),
  ]);
  listener = createServer((connection) => grpc.accept(connection));
  await new Promise<void>((resolve) => listener.listen(socket, resolve));
});
afterEach(async () => {
  await grpc.close(100);
  await new Promise<void>((resolve) => listener.close(() => resolve()));
  await rm(folder, { recursive: true });
});

const probe = (...args: string[]) => probeGuest(["--socket", socket, "--domainName", "ns_web", ...args]);

describe("probeGuest", () => {
  it.each([0, 3])("ends as the command in the guest does: %i", async (exitCode) => {
    const outcome = await probe("--timeoutSeconds", "4", "--command", "sh", "--", "-c", "--", String(exitCode));
    expect(outcome).toEqual({ exitCode, output: "said\n" });
    const Args = ["-c", "--", String(exitCode)];
    expect(asked).toEqual([{ domainName: "ns_web", Command: "sh", Args, timeoutSeconds: 4 }]);
  });

  it("asks for a sign of life", async () => {
    expect(await probe("--guestAgentPing")).toEqual({ exitCode: 0, output: "" });
    expect(asked).toEqual([{ timeoutSeconds: 1 }]);
    await expect(probe("--guestAgentPing", "--timeoutSeconds", "2")).rejects.toThrow("the agent gave no answer");
  });

  it("does not wait for ever", async () => {
    await expect(probe("--command", "hang")).rejects.toThrow("not answered within 1500 ms");
  });

  it("says what the launcher said", async () => {
    await expect(probe("--command", "break")).rejects.toThrow("no agent has opened its channel");
    await rm(socket);
    await expect(probe("--command", "true")).rejects.toThrow("call kubevirt.cmd.v1.Cmd/Exec");
  });

  it.each([
    ["nothing to ask", [], "either --command or --guestAgentPing must be given"],
    ["two things to ask", ["--guestAgentPing", "--command", "x"], "either --command or --guestAgentPing"],
    ["a limit that is none", ["--guestAgentPing", "--timeoutSeconds", "0"], "--timeoutSeconds must be a whole number"],
    ["an unknown flag", ["--guest"], "read the command line"],
  ])("refuses %s", async (_what, args, message) => {
    await expect(probe(...args)).rejects.toThrow(message);
    expect(asked).toEqual([]);
  });
});
