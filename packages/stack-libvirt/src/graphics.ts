import { vncSocketOf, type Graphics } from "@polyvirt/stack";
import type { LibvirtLifecycle } from "./lifecycle/libvirt-lifecycle.ts";
import { procedures } from "./rpc/remote-program.ts";

const pictureTimeoutMs = 10_000;

export function libvirtGraphics(lifecycle: LibvirtLifecycle): Graphics {
  return {
    vncSocket: () => vncSocketOf((operation) => lifecycle.running(operation)),
    async screenshot() {
      const { handle } = lifecycle.running("photograph");
      const connection = await lifecycle.daemon.connection();
      const { result, data } = await connection.download(
        procedures.domainScreenshot,
        { domain: handle, screen: 0, flags: 0 },
        { operation: "photograph the machine", timeoutMs: pictureTimeoutMs },
      );
      return { mime: result.mime ?? "application/octet-stream", data };
    },
  };
}
