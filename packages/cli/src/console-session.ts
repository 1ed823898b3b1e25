import { Duplex } from "node:stream";
import { describeError } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";
import { errors } from "./errors.ts";
import { guestPath } from "./guest-path.ts";

/** Opens the serial console of a guest: what it prints is read, what is written is typed. */
export async function openConsole(client: KubeClient, namespace: string, name: string): Promise<Duplex> {
  const path = guestPath(namespace, name, "console");
  const socket = await client.connect(path, { protocols: ["plain.kubevirt.io"] }).catch((cause: unknown) => {
    throw errors.CliConsoleFailed(`open the console of ${namespace}/${name}`, { cause });
  });
  const stream = new Duplex({
    read() {},
    write: (chunk: Buffer, _encoding, done) => socket.send(chunk, { binary: true }, done),
    final(done) {
      socket.close();
      done();
    },
    destroy(error, done) {
      socket.terminate();
      done(error);
    },
  });
  socket.on("message", (data: Buffer) => stream.push(data));
  socket.on("close", () => stream.push(null));
  socket.on("error", (error: unknown) => stream.destroy(new Error(describeError(error))));
  return stream;
}
