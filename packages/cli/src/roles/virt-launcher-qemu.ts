/** The launcher whose machines are QEMU processes of its own. */
import "../launcher/spare-memory.ts";
import { createQemuStack } from "@polyvirt/stack-qemu";
import { runLauncher } from "../launcher/run-launcher.ts";

await runLauncher({ role: "virt-launcher-qemu", createStack: createQemuStack });
