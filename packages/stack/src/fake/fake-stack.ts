import type { Stack } from "../contract.ts";
import { errors } from "../errors.ts";
import { FakeLifecycle } from "./fake-lifecycle.ts";
import { FakeMigration } from "./fake-migration.ts";

/** The smallest picture that is a PNG: one black pixel. */
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==",
  "base64",
);

export interface FakeStack extends Stack {
  /** Ends the machine as a crash of its monitor would. */
  crash(message: string): void;
}

/**
 * A stack without a VMM: for tests of launchers and node agents, and for machines that have none. Its guests are echo
 * servers on the sockets that the definition names. It keeps the contract, which the conformance suite proves.
 */
export function createFakeStack(): FakeStack {
  const lifecycle = new FakeLifecycle();
  const devices = () => lifecycle.running("use a device of").definition.devices ?? {};
  return {
    name: "fake",
    vmmName: "Fake",
    vmmVersion: async () => "1.0.0",
    capabilities: () => ({
      getHypervFeatures: async () => [],
      getSupportedMachineTypes: async () => [
        { name: "pc-q35-1.0", maxCpus: 8 },
        { name: "q35", canonical: "pc-q35-1.0", maxCpus: 8 },
      ],
      getSupportedCpuModels: async () => [{ name: "fake64", usable: true }],
      getHostCpuModelInfo: async () => ({ name: "fake64", vendor: "Fake", requiredFeatures: [] }),
      getSupportedCpuFeatures: async () => ["fake"],
      getNodeTscInfo: async () => undefined,
      getNodeSevFeatures: async () => ({ supported: false }),
    }),
    lifecycle,
    console: {
      serialSocket(port) {
        const path = devices().serials?.[port]?.sources?.[0]?.path;
        if (path === undefined) throw errors.StackDomainNotFound(`open serial port ${port}: there is none`);
        return path;
      },
      serialLog: (port) => devices().serials?.[port]?.log?.file,
    },
    graphics: {
      vncSocket() {
        const [display] = devices().graphics ?? [];
        const path = display?.socket ?? display?.listens?.[0]?.socket;
        if (path === undefined) throw errors.StackDomainNotFound("open the display: there is none");
        return path;
      },
      screenshot: async () => {
        lifecycle.running("photograph");
        return { mime: "image/png", data: picture };
      },
    },
    migration: new FakeMigration(lifecycle),
    crash: (message) => lifecycle.crash(message),
    close: () => lifecycle.kill(),
  };
}
