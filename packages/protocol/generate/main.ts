/** Generates src/gen from proto/ with buf, offline: both programs come from this workspace's node_modules. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
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
      out: "src/gen",
      opt: ["target=ts", "import_extension=ts", "js_import_style=module"],
    },
  ],
});

rmSync(join(packageRoot, "src", "gen"), { recursive: true, force: true });
const result = spawnSync(process.execPath, [buf, "generate", "--template", template], {
  cwd: packageRoot,
  stdio: "inherit",
});
process.exitCode = result.status ?? 1;
