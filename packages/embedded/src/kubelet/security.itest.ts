import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { events, pods } from "@polyvirt/api/k8s";
import { openBeneath, openTrustedDirectory } from "@polyvirt/host";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NodeHarness, shell } from "../testing/node-harness.ts";

let node: NodeHarness;
let victim: string;
beforeEach(() => {
  node = new NodeHarness();
  node.startNode();
  victim = path.join(node.base, "victim");
  fs.mkdirSync(victim);
  fs.writeFileSync(path.join(victim, "file"), "host secret");
});
afterEach(() => node.dispose());

const scratch = { volumes: [{ name: "v", emptyDir: {} }] };
const mounted = { volumeMounts: [{ name: "v", mountPath: "/v" }] };

describe("a pod that places symlinks gains nothing", () => {
  it("through a subPath that leads out of the volume", async () => {
    for (const [index, target] of [victim, "../../../../../../victim", "/etc"].entries()) {
      const name = `subpath-${index}`;
      await node.createPod(name, {
        ...scratch,
        initContainers: [shell(`ln -s ${target} /v/link`, { ...mounted, name: "trap" })],
        containers: [
          shell("ls /m; cat /m/file; touch /m/planted", {
            volumeMounts: [{ name: "v", mountPath: "/m", subPath: "link" }],
          }),
        ],
      });
      const pod = await node.podThat(
        name,
        ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CreateContainerError",
      );
      expect(pod.status?.containerStatuses?.[0]?.state?.waiting?.message).toContain("leads out of volume v");
      expect(node.log(pod)).toBe("");
    }
    expect(fs.readdirSync(victim)).toEqual(["file"]);
  });

  it("through a subPath that is a file", async () => {
    for (const [index, target] of [`${victim}/file`, "../../../../../../victim/file"].entries()) {
      const name = `subpath-file-${index}`;
      await node.createPod(name, {
        ...scratch,
        initContainers: [shell(`ln -s ${target} /v/link`, { ...mounted, name: "trap" })],
        containers: [
          shell("cat /m; echo overwritten > /m", { volumeMounts: [{ name: "v", mountPath: "/m", subPath: "link" }] }),
        ],
      });
      const pod = await node.podThat(
        name,
        ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CreateContainerError",
      );
      expect(pod.status?.containerStatuses?.[0]?.state?.waiting?.message).toContain("leads out of volume v");
    }
    expect(fs.readFileSync(path.join(victim, "file"), "utf8")).toBe("host secret");
  });

  it("through a hostPath that it can write to, for itself or for the next pod", async () => {
    const hostPath = { path: "/var/lib/shared-by-pods", type: "DirectoryOrCreate" as const };
    await node.createPod("planter", {
      volumes: [{ name: "v", hostPath }],
      restartPolicy: "Never",
      containers: [shell(`mkdir /v/deep; ln -s ${victim} /v/link; ln -s ${victim} /v/deep/link`, mounted)],
    });
    await node.podInPhase("planter", "Succeeded");
    for (const [index, place] of ["link", "link/file", "deep/link", "link/made"].entries()) {
      await node.createPod(`user-${index}`, {
        volumes: [{ name: "v", hostPath: { path: `${hostPath.path}/${place}`, type: "" } }],
        containers: [shell("cat /v /v/file; touch /v/planted", mounted)],
      });
    }
    await vi.waitFor(async () => {
      const { items } = await node.client.list(events);
      const refused = items.filter(({ message }) => message?.includes("a pod has put a symlink on the way") === true);
      expect(new Set(refused.map(({ involvedObject }) => involvedObject.name)).size).toBe(4);
    }, 10_000);
    expect(fs.readdirSync(victim)).toEqual(["file"]);
  });

  it("through a hostPath that is exchanged between two runs of a container", async () => {
    const hostPath = { path: "/var/lib/exchanged/dir", type: "DirectoryOrCreate" as const };
    await node.createPod("runs-twice", {
      volumes: [
        { name: "v", hostPath },
        { name: "parent", hostPath: { path: "/var/lib/exchanged", type: "DirectoryOrCreate" as const } },
      ],
      containers: [
        shell(`cat /v/file; touch /v/planted; rmdir /p/dir; mv /p/dir /p/old; ln -s ${victim} /p/dir; exit 1`, {
          volumeMounts: [
            { name: "v", mountPath: "/v" },
            { name: "parent", mountPath: "/p" },
          ],
        }),
      ],
    });
    const pod = await node.podThat(
      "runs-twice",
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CreateContainerError",
    );
    expect(pod.status?.containerStatuses?.[0]?.state?.waiting?.message).toContain("leads out of volume v");
    expect(fs.readdirSync(victim)).toEqual(["file"]);
  });

  it("with a socket in its volume that leads to one of the host", async () => {
    const listening = net.createServer((socket) => socket.end("host socket"));
    await new Promise<void>((resolve) => listening.listen(path.join(victim, "socket"), resolve));
    const place = `ln -s ${victim}/socket /v/socket; sleep 1000`;
    await node.createPod("socket", { ...scratch, containers: [shell(place, mounted)] });
    const pod = await node.podInPhase("socket", "Running");
    const volume = node.volume(pod, "empty-dir", "v");
    await vi.waitUntil(() => fs.readdirSync(volume).includes("socket"), 5000);
    const root = openTrustedDirectory(volume);
    // This is how the node's agents reach sockets of pods.
    expect(() => openBeneath(root, "socket", { expect: "socket" })).toThrow("found a symlink");
    root.close();
    await new Promise((resolve) => listening.close(resolve));
  });

  it("through a subPath below a symlink, or one that does not exist yet", async () => {
    await node.createPod("deeper", {
      ...scratch,
      initContainers: [shell(`ln -s ${victim} /v/link; ln -s nowhere /v/dangling`, { ...mounted, name: "trap" })],
      containers: [
        shell("true", { name: "below", volumeMounts: [{ name: "v", mountPath: "/m", subPath: "link/made" }] }),
        shell("true", { name: "dangling", volumeMounts: [{ name: "v", mountPath: "/m", subPath: "dangling/made" }] }),
      ],
    });
    await node.podThat(
      "deeper",
      ({ status }) =>
        status?.containerStatuses?.every(({ state }) => state?.waiting?.reason === "CreateContainerError") === true,
    );
    expect(fs.readdirSync(victim)).toEqual(["file"]);
  });

  it("but a subPath inside of the volume works, also through a symlink that stays inside", async () => {
    const pod = await node.createPod("inside", {
      ...scratch,
      restartPolicy: "Never",
      initContainers: [
        shell("mkdir /v/real; echo mine > /v/real/file; ln -s real /v/link", { ...mounted, name: "setup" }),
      ],
      containers: [
        shell("cat /m/file; cat /one", {
          volumeMounts: [
            { name: "v", mountPath: "/m", subPath: "link" },
            { name: "v", mountPath: "/one", subPath: "real/file" },
            { name: "v", mountPath: "/fresh", subPathExpr: "made/$(NAME)" },
          ],
          env: [{ name: "NAME", value: "by-name" }],
        }),
      ],
    });
    await node.podInPhase("inside", "Succeeded");
    expect(node.lines(pod)).toEqual(["mine", "mine"]);
    expect(fs.existsSync(path.join(node.volume(pod, "empty-dir", "v"), "made/by-name"))).toBe(true);
  });

  it("when its volumes are removed", async () => {
    const script = `ln -s ${victim} /v/link; mkdir /v/dir; ln -s ${victim}/file /v/dir/file; ln -s / /v/root; sleep 1000`;
    await node.createPod("removed", { ...scratch, containers: [shell(script, mounted)] });
    const pod = await node.podInPhase("removed", "Running");
    await vi.waitUntil(() => fs.readdirSync(node.volume(pod, "empty-dir", "v")).length === 3, 5000);
    await node.client.delete(pods, "removed", "default");
    await vi.waitUntil(() => !fs.existsSync(path.join(node.base, "node/kubelet/pods", pod.metadata.uid ?? "")), 10_000);
    expect(fs.readFileSync(path.join(victim, "file"), "utf8")).toBe("host secret");
  });

  it("in the place of its log or of its last message", async () => {
    const script = [
      "echo visible",
      "rm -f /dev/termination-log 2>/dev/null && echo removed; mv /dev/termination-log /dev/x 2>/dev/null && echo moved",
      `ln -sf ${victim}/file /dev/termination-log 2>/dev/null && echo linked`,
      "echo last words > /dev/termination-log",
      // The kubelet's own files are out of reach, also by the descriptor's name.
      'target=$(readlink /proc/self/fd/1); rm -f "$target" 2>/dev/null; ls "$target" 2>/dev/null && echo reached',
      "exit 4",
    ].join("\n");
    const pod = await node.createPod("messages", { restartPolicy: "Never", containers: [shell(script)] });
    const done = await node.podInPhase("messages", "Failed");
    expect(done.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
      exitCode: 4,
      message: "last words\n",
    });
    expect(node.lines(pod)).toEqual(["visible"]);
    expect(fs.readFileSync(path.join(victim, "file"), "utf8")).toBe("host secret");
  });

  it("with a message path inside of its own volume", async () => {
    await node.createPod("path", {
      ...scratch,
      restartPolicy: "Never",
      initContainers: [shell(`ln -s ${victim}/file /v/message`, { ...mounted, name: "trap" })],
      containers: [
        shell("echo overwritten > /v/message; exit 1", { ...mounted, terminationMessagePath: "/v/message" }),
      ],
    });
    const pod = await node.podInPhase("path", "Failed");
    expect(JSON.stringify(pod.status)).not.toContain("host secret");
    expect(fs.readFileSync(path.join(victim, "file"), "utf8")).toBe("host secret");
  });

  it("with a volume mounted inside of a volume that holds a link", async () => {
    const pod = await node.createPod("nested", {
      volumes: [
        { name: "v", emptyDir: {} },
        { name: "w", emptyDir: {} },
      ],
      restartPolicy: "Never",
      initContainers: [shell(`ln -s ${victim} /v/inner`, { ...mounted, name: "trap" })],
      containers: [
        shell("touch /v/inner/deep/planted; true", {
          volumeMounts: [
            { name: "v", mountPath: "/v" },
            { name: "w", mountPath: "/v/inner/deep" },
          ],
        }),
      ],
    });
    await node.podThat("nested", ({ status }) => status?.phase === "Succeeded" || status?.phase === "Failed");
    expect(node.log(pod)).not.toContain("host secret");
    expect(fs.readdirSync(victim)).toEqual(["file"]);
  });
});

describe("a pod's fields", () => {
  it("cannot lead a mount or a projected file elsewhere", async () => {
    await node.createPod("paths", {
      volumes: [
        { name: "d", downwardAPI: { items: [{ path: "../../escape", fieldRef: { fieldPath: "metadata.name" } }] } },
      ],
      containers: [shell("true")],
    });
    await node.createPod("dots", {
      ...scratch,
      containers: [shell("true", { volumeMounts: [{ name: "v", mountPath: "/a", subPath: "../../escape" }] })],
    });
    await vi.waitFor(async () => {
      const { items } = await node.client.list(events);
      const messages = items.map(({ message }) => message ?? "").join("\n");
      expect(messages).toContain("must stay inside of the volume");
      expect(messages).toContain('must be relative and without ".."');
    }, 5000);
  });

  it("are texts, whatever they contain", async () => {
    const nasty = `'; touch ${victim}/a; '\n$(touch ${victim}/b)\n\`touch ${victim}/c\``;
    const pod = await node.createPod("nasty", {
      restartPolicy: "Never",
      containers: [
        {
          name: "main",
          image: "test/shell:1",
          command: ["printf", "%s", nasty],
          env: [{ name: "NASTY", value: nasty }],
          workingDir: `/tmp/$(touch ${victim}/d) 'x'`,
        },
      ],
    });
    await node.podInPhase("nasty", "Succeeded");
    expect(node.lines(pod).join("\n")).toBe(nasty);
    expect(fs.readdirSync(victim)).toEqual(["file"]);
  });
});
