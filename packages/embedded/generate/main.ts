/**
 * Writes `src/apiserver/gen/` from the published Kubernetes modules. Without them in Go's module cache it leaves the files
 * as they are, and its exit code says so; `tsx generate/main.ts --download` fetches them first.
 */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { builtinSchemas } from "./builtin-schemas.ts";
import { protobufFields } from "./protobuf-fields.ts";

/** The Kubernetes version whose API the embedded server speaks. */
const version = { kubernetes: "v1.36.4", staging: "v0.36.4" };
const staging = ["api", "apimachinery", "apiextensions-apiserver", "kube-aggregator"];
const target = join(import.meta.dirname, "../src/apiserver/gen");

const directories = [`kubernetes@${version.kubernetes}`, ...staging.map((name) => `${name}@${version.staging}`)];

function moduleCache(): string | undefined {
  try {
    return join(execFileSync("go", ["env", "GOMODCACHE"], { encoding: "utf8" }).trim(), "k8s.io");
  } catch {
    return undefined;
  }
}

const modules = moduleCache();
if (modules !== undefined && process.argv.includes("--download")) {
  execFileSync("go", ["mod", "download", ...directories.map((directory) => `k8s.io/${directory}`)], {
    stdio: "inherit",
  });
}
if (modules === undefined || !directories.every((directory) => existsSync(join(modules, directory)))) {
  process.stdout.write("embedded: the Kubernetes modules are not here; kept what is there (see generate/main.ts)\n");
  process.exitCode = 3;
} else {
  const schemas = builtinSchemas(join(modules, `kubernetes@${version.kubernetes}`, "api/openapi-spec/v3"));
  writeFileSync(join(target, "builtin-schemas.json"), schemas);
  writeFileSync(join(target, "protobuf-fields.json"), protobufFields(modules, version.staging, schemas));
}
