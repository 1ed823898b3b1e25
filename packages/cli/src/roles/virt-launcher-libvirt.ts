/** The launcher whose machines are run by a libvirt daemon of its own. */
import "../launcher/spare-memory.ts";
import { launcherCachePath } from "@polyvirt/api";
import { createLibvirtStack } from "@polyvirt/stack-libvirt";
import { runLauncher } from "../launcher/run-launcher.ts";

/** Where the node may have what is known about emulators; libvirt asks them otherwise. */
const directory = `${launcherCachePath}/libvirt`;

await runLauncher({
  role: "virt-launcher-libvirt",
  createStack: ({ exporting, ...dependencies }) =>
    createLibvirtStack({ ...dependencies, sharedCache: { directory, writable: exporting } }),
});
