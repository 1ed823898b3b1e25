/**
 * The part of libvirt's remote protocol that this stack uses: procedure numbers and message layouts, which libvirt keeps
 * stable for ever. One row for each call and each event; nothing else in the package knows a number of the protocol.
 */
import { typedParameters } from "./typed-parameter.ts";
import { fixedOpaque, int, list, nothing, opaque, optional, struct, text, uint, unsignedHyper } from "./xdr.ts";
import { hyper, type Infer, type XdrType } from "./xdr.ts";

export interface Program {
  readonly number: number;
  readonly version: number;
}

export interface Procedure<Args, Result> {
  readonly program: Program;
  readonly number: number;
  readonly args: XdrType<Args>;
  readonly result: XdrType<Result>;
}

export interface EventType<Message> {
  readonly program: Program;
  readonly number: number;
  /** What to ask for to receive it; absent for events of the QEMU program, which are asked for by their QEMU name. */
  readonly id?: number;
  readonly message: XdrType<Message>;
}

export const remoteProgram: Program = { number: 0x20008086, version: 1 };
const qemu: Program = { number: 0x20008087, version: 1 };
/** "keep" in ASCII. */
export const keepalive: Program = { number: 0x6b656570, version: 1 };
export const keepaliveProcedures = { ping: 1, pong: 2 } as const;

const domain = struct({ name: text, uuid: fixedOpaque(16), id: int });
export type DomainHandle = Infer<typeof domain>;

const network = struct({ name: text, uuid: fixedOpaque(16) });
const onDomain = struct({ domain, flags: uint });

/** What comes instead of a result. */
export const errorMessage = struct({
  code: int,
  domain: int,
  message: optional(text),
  level: int,
  subject: optional(domain),
  text1: optional(text),
  text2: optional(text),
  text3: optional(text),
  number1: int,
  number2: int,
  network: optional(network),
});

function call<Args, Result>(
  number: number,
  args: XdrType<Args>,
  result: XdrType<Result>,
  program = remoteProgram,
): Procedure<Args, Result> {
  return { program, number, args, result };
}

export const procedures = {
  connectOpen: call(1, struct({ name: optional(text), flags: uint }), nothing),
  connectClose: call(2, nothing, nothing),
  /** Version of the hypervisor as major × 1000000 + minor × 1000 + release. */
  connectGetVersion: call(4, nothing, struct({ version: unsignedHyper })),
  connectGetCapabilities: call(7, nothing, struct({ xml: text })),
  domainGetXmlDesc: call(14, onDomain, struct({ xml: text })),
  domainLookupByName: call(23, struct({ name: text }), struct({ domain })),
  domainResume: call(28, struct({ domain }), nothing),
  domainSuspend: call(34, struct({ domain }), nothing),
  connectSupportsFeature: call(60, struct({ feature: int }), struct({ supported: int })),
  authList: call(66, nothing, struct({ types: list(int) })),
  connectGetLibVersion: call(157, nothing, struct({ version: unsignedHyper })),
  domainAttachDeviceFlags: call(160, struct({ domain, xml: text, flags: uint }), nothing),
  domainAbortJob: call(164, struct({ domain }), nothing),
  domainMigrateSetMaxDowntime: call(166, struct({ domain, downtimeMs: unsignedHyper, flags: uint }), nothing),
  domainUpdateDeviceFlags: call(174, struct({ domain, xml: text, flags: uint }), nothing),
  domainCreateWithFlags: call(196, onDomain, struct({ domain })),
  domainSetVcpusFlags: call(199, struct({ domain, count: uint, flags: uint }), nothing),
  domainScreenshot: call(211, struct({ domain, screen: uint, flags: uint }), struct({ mime: optional(text) })),
  domainGetState: call(212, onDomain, struct({ state: int, reason: int })),
  domainUndefineFlags: call(231, onDomain, nothing),
  domainDestroyFlags: call(234, onDomain, nothing),
  domainReset: call(245, onDomain, nothing),
  domainBlockResize: call(251, struct({ domain, disk: text, size: unsignedHyper, flags: uint }), nothing),
  domainShutdownFlags: call(258, onDomain, nothing),
  domainSetMetadata: call(
    264,
    struct({ domain, type: int, metadata: optional(text), key: optional(text), uri: optional(text), flags: uint }),
    nothing,
  ),
  domainGetMetadata: call(
    265,
    struct({ domain, type: int, uri: optional(text), flags: uint }),
    struct({ metadata: text }),
  ),
  domainGetJobStats: call(298, onDomain, struct({ type: int, parameters: typedParameters })),
  // The five steps of a migration that a client leads: begin and perform at the source, prepare and finish at the target,
  // confirm at the source. Each hands a cookie to the next.
  domainMigrateBegin3Params: call(
    302,
    struct({ domain, parameters: typedParameters, flags: uint }),
    struct({ cookie: opaque, xml: text }),
  ),
  domainMigratePrepare3Params: call(
    303,
    struct({ parameters: typedParameters, cookie: opaque, flags: uint }),
    struct({ cookie: opaque, uri: optional(text) }),
  ),
  domainMigratePerform3Params: call(
    305,
    struct({ domain, destination: optional(text), parameters: typedParameters, cookie: opaque, flags: uint }),
    struct({ cookie: opaque }),
  ),
  domainMigrateFinish3Params: call(
    306,
    struct({ parameters: typedParameters, cookie: opaque, flags: uint, cancelled: int }),
    struct({ domain, cookie: opaque }),
  ),
  domainMigrateConfirm3Params: call(
    307,
    struct({ domain, parameters: typedParameters, cookie: opaque, flags: uint, cancelled: int }),
    nothing,
  ),
  connectDomainEventCallbackRegisterAny: call(
    316,
    struct({ eventId: int, domain: optional(domain) }),
    struct({ callbackId: int }),
  ),
  connectGetDomainCapabilities: call(
    342,
    struct({
      emulator: optional(text),
      architecture: optional(text),
      machine: optional(text),
      virtType: optional(text),
      flags: uint,
    }),
    struct({ xml: text }),
  ),
  connectGetAllDomainStats: call(
    344,
    struct({ domains: list(domain), groups: uint, flags: uint }),
    struct({ records: list(struct({ domain, parameters: typedParameters })) }),
  ),
  domainDefineXmlFlags: call(350, struct({ xml: text, flags: uint }), struct({ domain })),
  domainMigrateStartPostCopy: call(364, onDomain, nothing),
  domainDetachDeviceAlias: call(392, struct({ domain, alias: text, flags: uint }), nothing),
  connectBaselineHypervisorCpu: call(
    394,
    struct({
      emulator: optional(text),
      architecture: optional(text),
      machine: optional(text),
      virtType: optional(text),
      cpus: list(text),
      flags: uint,
    }),
    struct({ cpu: text }),
  ),
  domainStartDirtyRateCalc: call(427, struct({ domain, seconds: int, flags: uint }), nothing),

  qemuDomainAgentCommand: call(
    3,
    struct({ domain, command: text, timeoutSeconds: int, flags: uint }),
    struct({ answer: optional(text) }),
    qemu,
  ),
  qemuConnectDomainMonitorEventRegister: call(
    4,
    struct({ domain: optional(domain), event: optional(text), flags: uint }),
    struct({ callbackId: int }),
    qemu,
  ),
} as const;

function event<Message>(id: number, number: number, message: XdrType<Message>): EventType<Message> {
  return { program: remoteProgram, number, id, message };
}

/** Older events wrap what they say once more than newer ones. */
const wrapped = <const Fields extends Readonly<Record<string, object>>>(fields: Fields) =>
  struct({ callbackId: int, body: struct(fields) });

export const events = {
  lifecycle: event(0, 318, wrapped({ domain, event: int, detail: int })),
  watchdog: event(3, 321, wrapped({ domain, action: int })),
  ioError: event(6, 324, wrapped({ domain, source: text, alias: text, action: int, reason: text })),
  balloonChange: event(13, 331, wrapped({ domain, actualKib: unsignedHyper })),
  deviceRemoved: event(15, 333, wrapped({ domain, alias: text })),
  agentLifecycle: event(18, 348, struct({ callbackId: int, domain, state: int, reason: int })),
  deviceRemovalFailed: event(22, 367, struct({ callbackId: int, domain, alias: text })),
  /** Any event of QEMU's own monitor, by name. */
  monitor: {
    program: qemu,
    number: 6,
    message: struct({
      callbackId: int,
      domain,
      event: text,
      seconds: hyper,
      microseconds: uint,
      details: optional(text),
    }),
  } satisfies EventType<unknown>,
} as const;

export type EventName = keyof typeof events;
export type EventMessage<Name extends EventName> = Infer<(typeof events)[Name]["message"]>;
