import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openImageCatalogue } from "@polyvirt/embedded";
import type { DataDir } from "./data-dir.ts";

/** Bundles that are no image of their own. */
const notImages = new Set(["polyvirt", "cluster", "virt-probe"]);

/** Where a role finds its program in its container: a path that every user may follow, wherever the installation lies. */
const inContainer = "/opt/polyvirt";

/** The kubelet runs a launcher's probes by name, as in any launcher's image. */
const launcherPath = `${inContainer}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;

/**
 * Lets the images that the operator's manifests name stand for the bundles of this installation. Written at each start, so
 * that a cluster follows when the installation moves or is updated.
 */
export function registerRoleImages(dataDir: DataDir, bundleDir: string, version: string): void {
  const catalogue = openImageCatalogue(dataDir.imageCatalogue);
  const roles = readdirSync(bundleDir)
    .filter((file) => file.endsWith(".js"))
    .map((file) => file.slice(0, -3))
    .filter((role) => !notImages.has(role));
  for (const role of roles) {
    const reference = `polyvirt.local/${role}:${version}`;
    const launcher = role.startsWith("virt-launcher-");
    catalogue.add(reference, {
      ...(launcher ? { environment: { PATH: launcherPath } } : {}),
      command: [`${inContainer}/bin/node`, `${inContainer}/dist/${role}.js`],
      files: {
        [`${inContainer}/bin/node`]: process.execPath,
        [`${inContainer}/dist`]: bundleDir,
        ...(launcher ? { [`${inContainer}/bin/virt-probe`]: join(bundleDir, "virt-probe") } : {}),
        // Two dependencies are not bundled: they carry compiled code.
        [`${inContainer}/node_modules`]: join(bundleDir, "../node_modules"),
      },
    });
  }
}
