import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, Server, ServerCredentials, status, type ServiceError } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defineErrors } from "@polyvirt/core";
import { cmdV1, createGrpcClient, createGrpcServer, grpcService } from "./index.ts";

/** Another implementation of gRPC at the other end, so that we do not only agree with ourselves. */
const path = "/kubevirt.cmd.v1.Cmd/Exec";
const testErrors = defineErrors({ TestBusy: { meaning: "", action: "", retry: true } });
const encodeRequest = (value: cmdV1.ExecRequest) => Buffer.from(toBinary(cmdV1.ExecRequestSchema, value));
const encodeResponse = (value: cmdV1.ExecResponse) => Buffer.from(toBinary(cmdV1.ExecResponseSchema, value));
const decodeRequest = (bytes: Buffer) => fromBinary(cmdV1.ExecRequestSchema, bytes);
const decodeResponse = (bytes: Buffer) => fromBinary(cmdV1.ExecResponseSchema, bytes);

let directory: string;
let address: string;
let closers: (() => Promise<void> | void)[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "interop-"));
  address = `unix:${join(directory, "sock")}`;
  closers = [];
});

afterEach(async () => {
  for (const close of closers.toReversed()) await close();
  await rm(directory, { recursive: true });
});

describe("our server and grpc-js' client", () => {
  async function call(command: string, deadlineMs = 5_000): Promise<cmdV1.ExecResponse> {
    const client = new Client(address, credentials.createInsecure());
    closers.push(() => client.close());
    const request = create(cmdV1.ExecRequestSchema, { Command: command });
    return new Promise((resolve, reject) => {
      const answer = (error: ServiceError | null, response?: cmdV1.ExecResponse) =>
        error === null && response !== undefined ? resolve(response) : reject(error ?? new Error("no answer"));
      const deadline = new Date(Date.now() + deadlineMs);
      client.makeUnaryRequest(path, encodeRequest, decodeResponse, request, new Metadata(), { deadline }, answer);
    });
  }

  beforeEach(async () => {
    const server = createGrpcServer([
      grpcService(cmdV1.Cmd, {
        exec: async ({ Command }, { signal }) => {
          if (Command === "fail") throw testErrors.TestBusy("run it: 100 % busy, später");
          if (Command === "hang") await new Promise((resolve) => signal.addEventListener("abort", resolve));
          return { stdOut: Command.repeat(2), exitCode: 7 };
        },
      }),
    ]);
    await server.listen(address);
    closers.push(() => server.close(100));
  });

  it("exchange messages, small and large", async () => {
    expect(await call("a")).toMatchObject({ stdOut: "aa", exitCode: 7 });
    expect((await call("x".repeat(1_500_000))).stdOut).toHaveLength(3_000_000);
  });

  it("agree on a failure, its words and its trailers", async () => {
    const error = await call("fail").catch((thrown: unknown) => thrown as ServiceError);
    expect(error).toMatchObject({ code: status.ABORTED, details: "run it: 100 % busy, später" });
    expect((error as ServiceError).metadata.get("polyvirt-error-code")).toEqual(["TestBusy"]);
  });

  it("agree on a deadline", async () => {
    await expect(call("hang", 100)).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
  });
});

describe("our client and grpc-js' server", () => {
  beforeEach(async () => {
    const server = new Server();
    const definition = {
      Exec: {
        path,
        requestStream: false as const,
        responseStream: false as const,
        requestSerialize: encodeRequest,
        requestDeserialize: decodeRequest,
        responseSerialize: encodeResponse,
        responseDeserialize: decodeResponse,
      },
    };
    server.addService(definition, {
      Exec: (
        { request }: { request: cmdV1.ExecRequest },
        callback: (error: { code: status; details: string } | null, response?: cmdV1.ExecResponse) => void,
      ) => {
        if (request.Command === "fail") return callback({ code: status.NOT_FOUND, details: "nicht 100 % da" });
        if (request.Command === "hang") return;
        callback(null, create(cmdV1.ExecResponseSchema, { stdOut: request.Command.repeat(2) }));
      },
    });
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(address, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    closers.push(() => server.forceShutdown());
  });

  function connect() {
    const client = createGrpcClient(cmdV1.Cmd, address);
    closers.push(() => client.close());
    return client;
  }

  it("exchange messages, small and large", async () => {
    const client = connect();
    expect((await client.exec({ Command: "a" })).stdOut).toBe("aa");
    expect((await client.exec({ Command: "x".repeat(1_500_000) })).stdOut).toHaveLength(3_000_000);
    const many = await Promise.all(Array.from({ length: 50 }, (_, index) => client.exec({ Command: `${index},` })));
    expect(many.map(({ stdOut }) => stdOut)).toEqual(many.map((_, index) => `${index},${index},`));
  });

  it("agree on failures, unknown methods and deadlines", async () => {
    const client = connect();
    await expect(client.exec({ Command: "fail" })).rejects.toMatchObject({
      message: expect.stringContaining("nicht 100 % da"),
      fields: { grpcStatus: "NOT_FOUND" },
    });
    await expect(client.ping({})).rejects.toMatchObject({ code: "ProtocolUnimplemented" });
    await expect(client.exec({ Command: "hang" }, { timeoutMs: 100 })).rejects.toMatchObject({
      code: "ProtocolTimeout",
    });
  });

  it("can be given up by the caller", async () => {
    const stop = new AbortController();
    const pending = connect().exec({ Command: "hang" }, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(pending).rejects.toThrow("enough");
  });
});
