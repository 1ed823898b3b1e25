import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defineErrors } from "@polyvirt/core";
import { cmdInfo, cmdV1, createGrpcClient, createGrpcServer, grpcService, type GrpcServer } from "./index.ts";

const testErrors = defineErrors({
  TestNotFound: { meaning: "", action: "", retry: false },
  TestBusy: { meaning: "", action: "", retry: true },
});

let directory: string;
let closers: (() => Promise<void> | void)[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "grpc-"));
  closers = [];
});

afterEach(async () => {
  for (const close of closers.toReversed()) await close();
  await rm(directory, { recursive: true });
});

async function serve(server: GrpcServer): Promise<string> {
  const address = `unix:${join(directory, "sock")}`;
  await server.listen(address);
  closers.push(() => server.close(100));
  return address;
}

function connect(address: string, options = {}) {
  const client = createGrpcClient(cmdV1.Cmd, address, options);
  closers.push(() => client.close());
  return client;
}

describe("gRPC over a unix socket", () => {
  it("carries requests and answers of two services on one socket", async () => {
    const address = await serve(
      createGrpcServer([
        grpcService(cmdV1.Cmd, {
          ping: async () => ({ success: true }),
          exec: async (request) => ({ exitCode: request.Args.length, stdOut: request.Command }),
        }),
        grpcService(cmdInfo.CmdInfo, { info: async () => ({ supportedCmdVersions: [1] }) }),
      ]),
    );
    const client = connect(address);
    const info = createGrpcClient(cmdInfo.CmdInfo, address);
    closers.push(() => info.close());

    expect((await client.ping({})).success).toBe(true);
    expect(await client.exec({ Command: "ls", Args: ["-l"] })).toMatchObject({ exitCode: 1, stdOut: "ls" });
    expect((await info.info({})).supportedCmdVersions).toEqual([1]);
  });

  it("answers a method that is left out with UNIMPLEMENTED and the server's words", async () => {
    const service = grpcService(cmdV1.Cmd, {}, { unimplementedMessage: (method) => `${method}: not by stack fake` });
    const client = connect(await serve(createGrpcServer([service])));
    await expect(client.getScreenshot({})).rejects.toMatchObject({
      code: "ProtocolUnimplemented",
      message: expect.stringContaining("GetScreenshot: not by stack fake"),
    });
  });

  it("hands the peer's error code and words to the caller", async () => {
    const seen: string[] = [];
    const service = grpcService(
      cmdV1.Cmd,
      {
        ping: () => {
          throw testErrors.TestNotFound("find domain a_b", { cause: new Error("it has ended") });
        },
        getDomain: async () => {
          throw testErrors.TestBusy("look at domain a_b");
        },
      },
      { onError: (path) => seen.push(path) },
    );
    const client = connect(await serve(createGrpcServer([service])));
    await expect(client.ping({})).rejects.toMatchObject({
      code: "ProtocolCallFailed",
      fields: { grpcStatus: "NOT_FOUND", remoteCode: "TestNotFound" },
      message: expect.stringContaining("find domain a_b: it has ended"),
    });
    await expect(client.getDomain({})).rejects.toMatchObject({ fields: { grpcStatus: "ABORTED" } });
    expect(seen).toEqual(["/kubevirt.cmd.v1.Cmd/Ping", "/kubevirt.cmd.v1.Cmd/GetDomain"]);
  });

  it("gives up at the deadline and tells the server", async () => {
    let told: (reason: unknown) => void;
    const gaveUp = new Promise((resolve) => (told = resolve));
    const service = grpcService(cmdV1.Cmd, {
      ping: (_request, { signal }) =>
        new Promise(() => signal.addEventListener("abort", () => told(signal.reason), { once: true })),
    });
    const client = connect(await serve(createGrpcServer([service])));
    await expect(client.ping({}, { timeoutMs: 50 })).rejects.toMatchObject({ code: "ProtocolTimeout", retry: true });
    expect(String(await gaveUp)).toContain("the caller gave up");
  });

  it("fails with ProtocolUnavailable when nobody listens, and recovers when somebody does", async () => {
    const address = `unix:${join(directory, "sock")}`;
    const client = connect(address);
    await expect(client.ping({}, { timeoutMs: 1_000 })).rejects.toMatchObject({ code: "ProtocolUnavailable" });
    await serve(createGrpcServer([grpcService(cmdV1.Cmd, { ping: async () => ({ success: true }) })]));
    await expect
      .poll(() =>
        client.ping({}).then(
          (answer) => answer.success,
          () => false,
        ),
      )
      .toBe(true);
  });

  it("refuses a message above the limit", async () => {
    const service = grpcService(cmdV1.Cmd, { getDomain: async () => ({ domain: "x".repeat(5_000) }) });
    const client = connect(await serve(createGrpcServer([service])), { maxMessageBytes: 1_000 });
    await expect(client.getDomain({})).rejects.toMatchObject({ fields: { grpcStatus: "RESOURCE_EXHAUSTED" } });
  });

  it("serves connections that the caller accepted", async () => {
    const server = createGrpcServer([grpcService(cmdV1.Cmd, { ping: async () => ({ success: true }) })]);
    const path = join(directory, "own");
    const listener: Server = createServer((socket) => server.accept(socket));
    await new Promise<void>((resolve) => listener.listen(path, resolve));
    closers.push(
      () => new Promise((resolve) => listener.close(() => resolve())),
      () => server.close(100),
    );
    expect((await connect(`unix:${path}`).ping({})).success).toBe(true);
  });
});
