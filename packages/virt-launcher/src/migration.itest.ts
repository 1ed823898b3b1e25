import { existsSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bootSectorGreeting, ConsoleClient } from "@polyvirt/stack/conformance";
import { FakeHandler } from "./testing/fake-handler.ts";
import { buildLauncher, TestPod, type LauncherProcess } from "./testing/launcher-process.ts";

/** A pod, its launcher and the node agent's side of it. */
interface End {
  readonly pod: TestPod;
  readonly handler: FakeHandler;
  readonly launcher: LauncherProcess;
}

const limit = { timeout: 20_000, interval: 20 };
let ends: End[];

async function startEnd(bundle: string): Promise<End> {
  const pod = await TestPod.make();
  const handler = new FakeHandler(pod.commandSocket);
  await handler.listen(pod.notifySocket);
  const launcher = pod.start(bundle);
  ends.push({ pod, handler, launcher });
  await expect.poll(() => existsSync(pod.commandSocket), limit).toBe(true);
  return { pod, handler, launcher };
}

beforeEach(() => {
  ends = [];
});

afterEach(async () => {
  for (const { pod, handler, launcher } of ends) {
    launcher.child.kill("SIGKILL");
    await launcher.exited;
    await handler.close();
    await pod.dispose();
  }
});

const request = ({ pod }: End) => ({ vmi: { vmiJson: Buffer.from(JSON.stringify(pod.vmi)) } });
const migrationSocket = ({ pod }: End, end: string): string =>
  pod.path("public", "migrationproxy", `${pod.vmi.metadata.uid}-${end}.sock`);

/** What the node agents do: whatever reaches the source's socket arrives at the target's. */
async function connectEnds(source: End, target: End): Promise<void> {
  await mkdir(source.pod.path("public", "migrationproxy"), { recursive: true });
  await symlink(migrationSocket(target, "target"), migrationSocket(source, "source"));
}

it("moves a guest from one launcher to another, each driven over the Cmd API", async () => {
  const bundle = await buildLauncher("virt-launcher-qemu");
  const source = await startEnd(bundle);
  const target = await startEnd(bundle);
  await source.handler.cmd.syncVirtualMachine(request(source));
  const before = await ConsoleClient.open(source.pod.serialSocket);
  await before.echo("here");
  before.close();

  await target.handler.cmd.syncMigrationTarget(request(target));
  const finish = () => target.handler.cmd.finalizeVirtualMachineMigration(request(target));
  await expect(finish()).rejects.toMatchObject({ fields: { remoteCode: "LauncherRequestMalformed" } });
  await connectEnds(source, target);
  const options = Buffer.from(JSON.stringify({ Bandwidth: "64Mi", AllowAutoConverge: true }));
  await source.handler.cmd.migrateVirtualMachine({ ...request(source), options });

  await expect.poll(() => target.handler.told().at(-1), limit).toMatch(/Running\/Unknown$/);
  await finish();
  expect(await source.launcher.exited).toBe(0);
  expect(source.handler.told().at(-1)).toBe("DELETED Shutoff/Migrated");
  const after = await ConsoleClient.open(target.pod.serialSocket);
  await after.echo("there");
  expect(after.text).not.toContain(bootSectorGreeting);
  after.close();
});

// Others than root need the node's permission (vm.unprivileged_userfaultfd).
it.skipIf(process.getuid?.() !== 0)("goes on by post-copy when a move takes too long", async () => {
  const bundle = await buildLauncher("virt-launcher-qemu");
  const source = await startEnd(bundle);
  const target = await startEnd(bundle);
  await source.handler.cmd.syncVirtualMachine(request(source));
  const migrationState = { migrationConfiguration: { allowPostCopy: true } };
  const vmiJson = Buffer.from(JSON.stringify({ ...target.pod.vmi, status: { migrationState } }));
  await target.handler.cmd.syncMigrationTarget({ vmi: { vmiJson } });
  await connectEnds(source, target);
  // At this speed it takes several seconds; one is allowed.
  const wanted = { Bandwidth: "128Ki", AllowPostCopy: true, CompletionTimeoutPerGiB: 1 };
  const options = Buffer.from(JSON.stringify(wanted));
  await source.handler.cmd.migrateVirtualMachine({ ...request(source), options });

  await expect.poll(() => target.handler.told().at(-1), limit).toMatch(/Running\/Unknown$/);
  expect(source.launcher.output()).toContain("post-copy");
  expect(await source.launcher.exited).toBe(0);
  expect(source.handler.told().at(-1)).toBe("DELETED Shutoff/Migrated");
  const after = await ConsoleClient.open(target.pod.serialSocket);
  await after.echo("there");
  after.close();
});

it("tells when nobody receives the guest, which runs on", async () => {
  const source = await startEnd(await buildLauncher("virt-launcher-qemu"));
  await source.handler.cmd.syncVirtualMachine(request(source));
  await source.handler.cmd.migrateVirtualMachine(request(source));
  await expect.poll(() => source.launcher.output(), limit).toContain("the machine was not moved");
  expect(source.handler.told().at(-1)).toMatch(/Running\/Unknown$/);
});

it("clears a target away whose guest does not come", async () => {
  const target = await startEnd(await buildLauncher("virt-launcher-qemu"));
  await target.handler.cmd.syncMigrationTarget(request(target));
  await target.handler.cmd.signalTargetPodCleanup(request(target));
  expect(await target.launcher.exited).toBe(0);
  expect(target.handler.told().at(-1)).toBe("DELETED Shutoff/Destroyed");
});
