import { describe, expect, it } from "vitest";
import { domainStatsDocument } from "./domain-stats.ts";

describe("statistics on the wire", () => {
  const document = domainStatsDocument(
    { name: "default_vm", uuid: "11111111-2222-4333-8444-555555555555" },
    {
      cpuTimeNanoseconds: 5_000,
      vcpus: [{ index: 0, threadId: 42, timeNanoseconds: 4_000 }],
      memory: { actualBytes: 64 * 1024 * 1024, residentBytes: 3 * 1024 },
      blocks: [
        {
          alias: "ua-root",
          target: "vda",
          readBytes: 512,
          readRequests: 1,
          writeBytes: 0,
          writeRequests: 0,
          flushRequests: 2,
        },
      ],
      interfaces: [{ alias: "ua-default", receivedBytes: 7 }],
    },
  );

  it("say of each counter whether it is known", () => {
    expect(document.Cpu).toEqual({ TimeSet: true, Time: 5_000, UserSet: false, User: 0, SystemSet: false, System: 0 });
    expect(document.Vcpu).toEqual([
      { StateSet: true, State: 1, TimeSet: true, Time: 4_000, WaitSet: false, Wait: 0, DelaySet: false, Delay: 0 },
    ]);
    expect(document.Net[0]).toMatchObject({ Name: "ua-default", RxBytesSet: true, RxBytes: 7, TxBytesSet: false });
  });

  it("count memory in kibibytes and disks by the name in the guest", () => {
    expect(document.Memory).toMatchObject({ ActualBalloonSet: true, ActualBalloon: 65_536, RSS: 3, UnusedSet: false });
    expect(document.Block[0]).toMatchObject({ NameSet: true, Name: "vda", Alias: "root", RdBytes: 512, FlReqs: 2 });
  });
});
