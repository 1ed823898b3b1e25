import {
  closeInput,
  followOutput,
  openInput,
  resizeContainer,
  type ContainerInput,
  type ContainerProcess,
} from "@polyvirt/host";
import type { Container } from "@polyvirt/api/k8s";
import type { StreamRequest } from "./exec-session.ts";
import type { RemoteStreams } from "./remote-streams.ts";

/**
 * Connects a client with a container that runs already: what it writes from now on, and its standard input. The
 * container goes on when the client leaves, unless it said that its input is for one client only.
 */
export function serveAttach(
  streams: RemoteStreams,
  container: Container,
  process: ContainerProcess,
  request: StreamRequest,
): void {
  const outputs = (["stdout", "stderr"] as const).filter((stream) => request[stream]);
  const followed = outputs.map((stream) =>
    followOutput(process.directory, stream, (data) => streams.send(stream, data)),
  );
  const input = request.stdin && container.stdin === true ? openInput(process.directory) : undefined;
  if (input !== undefined) forwardInput(streams, container, process, input);
  streams.onResize(({ columns, rows }) => {
    const state = process.state();
    if (container.tty !== true || state.phase !== "running" || state.shim === undefined) return;
    try {
      resizeContainer(state.shim, columns, rows);
    } catch {
      // It ended in between.
    }
  });
  streams.onClose(() => {
    for (const output of followed) output.stop();
    input?.release();
    if (input !== undefined && container.stdinOnce === true) closeInput(process.directory);
  });
  process.onChange(() => {
    if (process.state().phase !== "exited") return;
    void Promise.all(followed.map((output) => output.drain())).then(() =>
      streams.finish({ metadata: {}, status: "Success" }),
    );
  });
}

function forwardInput(
  streams: RemoteStreams,
  container: Container,
  process: ContainerProcess,
  input: ContainerInput,
): void {
  streams.onInput((data) => input.write(data));
  streams.onInputEnd(() => {
    input.release();
    if (container.stdinOnce === true) closeInput(process.directory);
  });
}
