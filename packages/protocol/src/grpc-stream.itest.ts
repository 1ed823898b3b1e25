import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials, Server, ServerCredentials, type ServerWritableStream } from "@grpc/grpc-js";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  DevicePlugin,
  EmptySchema,
  ListAndWatchResponseSchema,
} from "./gen/kubelet/deviceplugin/v1beta1/deviceplugin_pb.ts";
import { createGrpcClient } from "./grpc-client.ts";
import { createGrpcServer } from "./grpc-server.ts";
import { grpcService } from "./grpc-service.ts";
import { openServerStream } from "./grpc-stream.ts";

let folder: string;
let address: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "grpc-stream-"));
  address = `unix:${join(folder, "s")}`;
});
afterEach(() => rm(folder, { recursive: true }));

const ids = ["a", "b", "c"];
const path = "/v1beta1.DevicePlugin/ListAndWatch";

async function idsFrom(signal = new AbortController().signal): Promise<string[]> {
  const found: string[] = [];
  for await (const { devices } of openServerStream(DevicePlugin.method.listAndWatch, address, {}, signal)) {
    found.push(...devices.map(({ ID }) => ID));
  }
  return found;
}

describe("streamed answers", () => {
  const serve = async (
    listAndWatch: (signal: AbortSignal) => AsyncIterable<{ devices: { ID: string }[] }>,
  ): Promise<() => Promise<void>> => {
    const service = grpcService(DevicePlugin, {
      listAndWatch: (_request, { signal }) => listAndWatch(signal),
      getDevicePluginOptions: async () => ({ preStartRequired: true }),
    });
    const server = createGrpcServer([service]);
    await server.listen(address);
    return () => server.close(100);
  };

  it("come one by one, beside unary calls", async () => {
    const stop = await serve(async function* list() {
      for (const ID of ids) yield { devices: [{ ID }] };
    });
    expect(await idsFrom()).toEqual(ids);
    const client = createGrpcClient(DevicePlugin, address);
    expect((await client.getDevicePluginOptions({})).preStartRequired).toBe(true);
    client.close();
    await stop();
  });

  it("end with the server's error", async () => {
    const stop = await serve(async function* list() {
      yield { devices: [] };
      throw new Error("out of order");
    });
    await expect(idsFrom()).rejects.toThrow("out of order");
    await stop();
  });

  it("end on both sides when the caller has enough", async () => {
    let ended: (value: unknown) => void = () => {};
    const gone = new Promise((resolve) => (ended = resolve));
    const stop = await serve(async function* list(signal) {
      yield { devices: [{ ID: "only" }] };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      ended(undefined);
    });
    const enough = new AbortController();
    for await (const { devices } of openServerStream(DevicePlugin.method.listAndWatch, address, {}, enough.signal)) {
      expect(devices[0]?.ID).toBe("only");
      enough.abort();
    }
    await gone;
    await stop();
  });

  it("fail when nobody is there", async () => {
    await expect(idsFrom()).rejects.toMatchObject({ code: "ProtocolUnavailable" });
  });

  it("are understood by grpc-js", async () => {
    const stop = await serve(async function* list() {
      for (const ID of ids) yield { devices: [{ ID }] };
    });
    const client = new Client(address, credentials.createInsecure());
    const found: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const encode = (): Buffer => Buffer.from(toBinary(EmptySchema, create(EmptySchema)));
      const decode = (bytes: Buffer) => fromBinary(ListAndWatchResponseSchema, bytes);
      const stream = client.makeServerStreamRequest(path, encode, decode, {});
      stream.on("data", (response: { devices: { ID: string }[] }) =>
        found.push(...response.devices.map(({ ID }) => ID)),
      );
      stream.on("error", reject);
      stream.on("end", resolve);
    });
    client.close();
    expect(found).toEqual(ids);
    await stop();
  });

  it("are understood when grpc-js sends them", async () => {
    const server = new Server();
    const method = {
      path,
      requestStream: false,
      responseStream: true,
      requestDeserialize: (bytes: Buffer) => fromBinary(EmptySchema, bytes),
      requestSerialize: () => Buffer.alloc(0),
      responseDeserialize: () => ({}),
      responseSerialize: (devices: { ID: string }[]) =>
        Buffer.from(toBinary(ListAndWatchResponseSchema, create(ListAndWatchResponseSchema, { devices }))),
    };
    server.addService(
      { listAndWatch: method },
      {
        listAndWatch: (call: ServerWritableStream<unknown, { ID: string }[]>) => {
          for (const ID of ids) call.write([{ ID }]);
          call.end();
        },
      },
    );
    await new Promise((resolve, reject) => {
      server.bindAsync(address, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve(0)));
    });
    expect(await idsFrom()).toEqual(ids);
    server.forceShutdown();
  });
});
