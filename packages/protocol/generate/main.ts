/** Generates src/gen from proto/ with buf, offline: both programs come from this workspace's node_modules. */
import { spawnSync } from "node:child_process";
import { renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const packageRoot = join(import.meta.dirname, "..");
const require = createRequire(import.meta.url);
const buf = join(dirname(require.resolve("@bufbuild/buf/package.json")), "bin", "buf");
const generator = join(dirname(require.resolve("@bufbuild/protoc-gen-es/package.json")), "bin", "protoc-gen-es");
const template = JSON.stringify({
  version: "v2",
  plugins: [
    {
      local: [process.execPath, generator],
      out: "src/gen.new",
      opt: ["target=ts", "import_extension=ts", "js_import_style=module"],
    },
  ],
});

// Others may be reading the generated files: they change only when the new ones are complete.
const current = join(packageRoot, "src", "gen");
const next = join(packageRoot, "src", "gen.new");
rmSync(next, { recursive: true, force: true });
const result = spawnSync(process.execPath, [buf, "generate", "--template", template], {
  cwd: packageRoot,
  stdio: "inherit",
});
if (result.status === 0) {
  rmSync(current, { recursive: true, force: true });
  renameSync(next, current);
}
process.exitCode = result.status ?? 1;
