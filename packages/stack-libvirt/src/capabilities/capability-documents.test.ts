import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  hostModelCpu,
  readCpuModels,
  readFeatures,
  readHostModel,
  readHypervFeatures,
  readMachineTypes,
  readSev,
  readTsc,
} from "./capability-documents.ts";

const domain = (cpu: string, features = "") =>
  `<domainCapabilities><cpu>${cpu}</cpu><features>${features}</features></domainCapabilities>`;

describe("reading libvirt's capabilities", () => {
  it("lists machines of one architecture, with what their names stand for", () => {
    const xml = `<capabilities>
      <guest><arch name="i686"><machine maxCpus="1">pc</machine></arch></guest>
      <guest><arch name="x86_64">
        <machine canonical="pc-q35-7.2" maxCpus="288">q35</machine>
        <machine maxCpus="many" deprecated="yes">isapc</machine>
        <domain type="kvm"><machine maxCpus="9">other</machine></domain>
      </arch></guest></capabilities>`;
    expect(readMachineTypes(xml, "x86_64")).toEqual([
      { name: "isapc", deprecated: true },
      { name: "q35", canonical: "pc-q35-7.2", maxCpus: 288 },
    ]);
    expect(readMachineTypes(xml, "s390x")).toEqual([]);
  });

  it.each([
    ["<counter name='tsc' frequency='2445424000' scaling='no'/>", { frequencyHz: 2_445_424_000, scalable: false }],
    ["<counter name='tsc' frequency='1' scaling='yes'/>", { frequencyHz: 1, scalable: true }],
    ["<counter name='tsc' frequency='-1'/>", undefined],
    ["<counter name='tsc' frequency='1.5'/>", undefined],
    ["<counter name='other' frequency='7'/>", undefined],
    ["", undefined],
  ])("reads a clock from %s", (counter, wanted) => {
    expect(readTsc(`<capabilities><host><cpu>${counter}</cpu></host></capabilities>`)).toEqual(wanted);
  });

  it("says of each model whether it can be used, and what it lacks", () => {
    const xml = domain(`<mode name="custom" supported="yes">
      <model usable="no">EPYC</model><blockers model="EPYC"><feature name="svm"/></blockers>
      <model usable="yes" deprecated="yes">486</model><model>max</model></mode>`);
    expect(readCpuModels(xml, false)).toEqual([
      { name: "486", usable: true, deprecated: true },
      { name: "EPYC", usable: false, unavailableFeatures: ["svm"] },
      { name: "max", usable: false },
    ]);
    // Where nothing is said an emulator can do it.
    expect(readCpuModels(xml, true).find(({ name }) => name === "max")?.usable).toBe(true);
  });

  it("knows the host's model, and its features without those that it has to do without", () => {
    const xml =
      domain(`<mode name="host-model" supported="yes"><model fallback="forbid">EPYC</model><vendor>AMD</vendor>
      <feature policy="require" name="svm"/><feature policy="disable" name="monitor"/></mode>`);
    expect(readHostModel(xml)).toEqual({ name: "EPYC", vendor: "AMD", requiredFeatures: ["svm"] });
    expect(hostModelCpu(xml, "x86_64")).toContain("<model>EPYC</model>");
    const expanded = "<cpu><feature policy='require' name='svm'/><feature policy='require' name='monitor'/></cpu>";
    expect(readFeatures(expanded, xml)).toEqual(["svm"]);
    const none = domain(`<mode name="host-model" supported="no"/>`);
    expect([readHostModel(none), hostModelCpu(none, "x86_64")]).toEqual([undefined, undefined]);
  });

  it("lists what is lent to Windows guests, and nothing else that is listed beside it", () => {
    const xml = domain(
      "",
      `<hyperv supported="yes"><enum name="modes"><value>all</value></enum>
        <enum name="features"><value>vapic</value><value>relaxed</value></enum></hyperv>`,
    );
    expect(readHypervFeatures(xml)).toEqual(["relaxed", "vapic"]);
    expect(readHypervFeatures(domain(""))).toEqual([]);
  });

  it.each([
    ["<sev supported='no'/>", { supported: false }],
    [
      "<sev supported='yes'><maxGuests>59</maxGuests><maxESGuests>450</maxESGuests></sev>",
      { supported: true, encryptedStateSupported: true, maxGuests: 59, maxEncryptedStateGuests: 450 },
    ],
    [
      "<sev supported='yes'><maxGuests>lots</maxGuests></sev>" +
        "<launchSecurity><enum name='sectype'><value>sev-snp</value></enum></launchSecurity>",
      {
        supported: true,
        encryptedStateSupported: false,
        secureNestedPagingSupported: true,
        maxGuests: 0,
        maxEncryptedStateGuests: 0,
      },
    ],
  ])("reads about encrypted guests from %s", (features, wanted) => {
    expect(readSev(domain("", features))).toEqual(wanted);
  });
});

/** Answers of other libvirts and other QEMUs, where they are at hand. */
const corpus = new URL("../../../../../shared/libvirt/", import.meta.url);
const documents = ["domcapabilities", "captured"].flatMap((folder) => {
  const directory = new URL(`${folder}/`, corpus);
  return (existsSync(directory) ? readdirSync(directory) : []).map((name) => ({
    name,
    xml: readFileSync(new URL(name, directory), "utf8"),
  }));
});

describe.skipIf(documents.length === 0)("answers of other versions", () => {
  it.each(documents)("$name is read without complaint, also by those to whom it says nothing", ({ name, xml }) => {
    const models = readCpuModels(xml, true);
    expect(models.filter((model) => model.name === "")).toEqual([]);
    expect(models.filter((model) => model.usable && model.unavailableFeatures !== undefined)).toEqual([]);
    const host = readHostModel(xml);
    expect(host === undefined || host.name !== "").toBe(true);
    expect(hostModelCpu(xml, "x86_64") === undefined).toBe(host === undefined);
    expect(readFeatures("<cpu/>", xml)).toEqual([]);
    expect(readSev(xml)).toHaveProperty("supported");
    expect(new Set(readHypervFeatures(xml)).size).toBe(readHypervFeatures(xml).length);
    const isHost = name.endsWith("capabilities.xml");
    expect(readMachineTypes(xml, "x86_64").length > 0).toBe(isHost);
    expect(readTsc(xml) !== undefined).toBe(isHost);
  });

  it("of three architectures name models", () => {
    const named = documents.filter(({ xml }) => readCpuModels(xml, false).length > 0).map(({ name }) => name);
    for (const part of ["x86_64", "aarch64", "s390x"]) expect(named.join(" ")).toContain(part);
  });
});
