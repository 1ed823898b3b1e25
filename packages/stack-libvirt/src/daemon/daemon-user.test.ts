import { describe, expect, it } from "vitest";
import { daemonUserCommand } from "./daemon-user.ts";

const passwd = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/:/x\nqemu:x:107:107::/:/x\n";
const renamed = ["unshare", "--user", "--map-user=1", "--map-group=1", "--"];

describe("the daemon's user", () => {
  it.each([
    ["is the launcher's when it has a name", 107, passwd, []],
    ["is renamed when it has none", 4711, passwd, renamed],
    ["is renamed when it is root", 0, passwd, renamed],
    ["is renamed when nobody has a name", 107, "", renamed],
  ])("%s", (_, uid, table, command) => {
    expect(daemonUserCommand({ uid, passwd: table })).toEqual(command);
  });

  it("keeps its name where it gets a host name", () => {
    const command = daemonUserCommand({ uid: 107, passwd, hostName: "here" });
    expect(command.slice(0, 5)).toEqual(["unshare", "--user", "--map-user=107", "--map-group=107", "--uts"]);
    expect(command.at(-1)).toBe("here");
  });

  it("loses the rights again that it takes to hide a device", () => {
    const hiddenDevice = { path: "/dev/kvm", cover: "/own/cover" };
    const command = daemonUserCommand({ uid: 0, passwd, hostName: "here", hiddenDevice });
    expect(command.slice(4, 6)).toEqual(["--uts", "--mount"]);
    expect(command.at(-4)).toBe(
      'hostname "$1" && shift && mount --bind "$1" /dev/kvm && shift && ' +
        'exec setpriv --inh-caps=-all --ambient-caps=-all "$@"',
    );
    expect(command.slice(-2)).toEqual(["here", "/own/cover"]);
  });
});
