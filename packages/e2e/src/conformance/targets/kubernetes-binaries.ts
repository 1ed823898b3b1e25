import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryRoot } from "../../cluster.ts";
import { run } from "../../run.ts";

export interface KubernetesBinaries {
  readonly apiServer: string;
  readonly controllerManager: string;
}

const wrapper = join(repositoryRoot, "packages/e2e/kubernetes");
const cache = join(repositoryRoot, ".cache/kubernetes");
const programs = ["kube-apiserver", "kube-controller-manager"] as const;

/** Where Kubernetes' own programs are: in a folder that the caller names, or where an earlier build left them. */
export function findKubernetes(folder?: string): KubernetesBinaries | undefined {
  const place = folder ?? cache;
  if (!programs.every((program) => existsSync(join(place, program)))) return undefined;
  return { apiServer: join(place, programs[0]), controllerManager: join(place, programs[1]) };
}

/** The same, built from the Go module proxy when they are missing: about 12 CPU minutes and 3 GB the first time. */
export async function obtainKubernetes(folder?: string): Promise<KubernetesBinaries> {
  const found = findKubernetes(folder);
  if (found !== undefined) return found;
  if (folder !== undefined) throw new Error(`${folder} does not hold ${programs.join(" and ")}`);
  await mkdir(cache, { recursive: true });
  for (const program of programs) {
    process.stdout.write(`building ${program} into .cache/kubernetes (minutes, the first time)\n`);
    const { code, stderr } = await run("go", await buildArguments(program), {
      env: { CGO_ENABLED: "0" },
      timeoutMs: 3_600_000,
    });
    if (code !== 0) throw new Error(`go build of ${program} failed:\n${stderr}`);
  }
  return { apiServer: join(cache, programs[0]), controllerManager: join(cache, programs[1]) };
}

async function buildArguments(program: string): Promise<string[]> {
  const version = /k8s\.io\/kubernetes (v\d+\.(\d+)\.\d+)/.exec(await readFile(join(wrapper, "go.mod"), "utf8"));
  const [, full = "", minor = ""] = version ?? [];
  const name = "k8s.io/component-base/version";
  // Without these the server calls itself v0.0.0, and kubectl warns of the distance.
  const stamps = [`-X ${name}.gitVersion=${full}`, `-X ${name}.gitMajor=1`, `-X ${name}.gitMinor=${minor}`];
  return [
    "build",
    "-C",
    wrapper,
    "-trimpath",
    "-buildvcs=false",
    "-ldflags",
    `-s -w ${stamps.join(" ")}`,
    "-o",
    join(cache, program),
    `k8s.io/kubernetes/cmd/${program}`,
  ];
}
