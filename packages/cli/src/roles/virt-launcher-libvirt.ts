/** The launcher whose machines are run by a libvirt daemon of its own. */
import { createLibvirtStack } from "@polyvirt/stack-libvirt";
import { runLauncher } from "../launcher/run-launcher.ts";

/** Where an image, or the node that it runs on, may have what is known about emulators; libvirt asks them otherwise. */
const directory = "/var/cache/polyvirt/libvirt";

await runLauncher({
  role: "virt-launcher-libvirt",
  createStack: ({ exporting, ...dependencies }) =>
    createLibvirtStack({ ...dependencies, sharedCache: { directory, writable: exporting } }),
});
